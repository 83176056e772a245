//! What is wrong with the cache, before a run finds out.

use std::fs;
use std::path::Path;

use super::{is_cached, moved_from, origin_of, prefix_of};
use crate::catalogue::Catalogue;
use crate::identity::Identity;
use crate::installed::Installed;
use crate::watch::Watch;
use crate::{Error, debian, library};

/// Problems of cached servers and archives, each with the next step: servers that cannot be loaded, archives
/// in `downloads` or of the user that differ from the catalogue.
///
/// # Errors
/// When the work is stopped or a file cannot be read.
pub fn findings(
    catalogue: &Catalogue,
    cache: &Path,
    scratch: &Path,
    watch: &mut Watch<'_>,
) -> Result<Vec<String>, Error> {
    let identity = Identity::for_servers()?;
    let mut found = Vec::new();
    for entry in catalogue.servers() {
        if is_cached(entry, cache) {
            let mut dirs = library::dirs_here(entry, cache);
            dirs.extend(debian::library_dirs(&prefix_of(entry, cache)));
            let installed =
                Installed::of_catalogue(entry, &prefix_of(entry, cache), dirs, String::new());
            let failure = match installed {
                Ok(installed) => installed.load_failure(&identity, scratch, watch)?,
                Err(error) => Some(error),
            };
            found.extend(failure.map(|error| error.chain()));
            continue;
        }
        if origin_of(entry, cache).is_some()
            && let Some(loader) = moved_from(entry, cache)
        {
            found.push(format!(
                "{} in {} was moved or copied: its programs expect their C library at {}; \
                 `rqps servers fetch {}` fetches it again, as does a run that needs it",
                entry.name(),
                prefix_of(entry, cache).display(),
                loader.display(),
                entry.selector()
            ));
            continue;
        }
        for source in &entry.sources {
            let archive = source
                .in_place()
                .map_or_else(|| cache.join("downloads").join(source.file_name()), Path::to_owned);
            if archive.is_file() {
                found.extend(source.mismatch(&archive, watch)?.map(|error| error.chain()));
            } else if source.in_place().is_some() {
                found.push(Error::FileMissing { path: archive }.chain());
            }
        }
    }
    let _ = fs::remove_file(scratch);
    found.dedup();
    Ok(found)
}
