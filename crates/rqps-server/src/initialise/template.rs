//! New data directories that are made once for each server and configuration, and copied: the tests start many
//! servers alike.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use nix::fcntl::{Flock, FlockArg};
use rqps_model::Transport;
use sha2::{Digest as _, Sha256};

use super::write_config;
use crate::Error;
use crate::copy_tree::{Owner, copy_tree};
use crate::instance::{Instance, Setup};
use crate::places::hex;

/// The file of a template with the password of its server's users. It is written last.
const PASSWORD: &str = "password";

/// A data directory to copy, made or not.
#[derive(Debug)]
pub(super) struct Template {
    dir: PathBuf,
}

impl Template {
    /// Where a setup's is; `None` where each server initialises its own. Users' files are taken as they are,
    /// and certificates lie beside the data.
    pub(super) fn of(setup: &Setup) -> Option<Self> {
        let templates = setup.templates.as_ref()?;
        if !setup.config.is_of_profile || setup.transport == Transport::Tls {
            return None;
        }
        let Setup { installed, config, identity, .. } = setup;
        let program = fs::metadata(&installed.program).and_then(|meta| meta.modified());
        let made_from = format!(
            "{}\n{:?} {program:?}\n{}\n{:?}\n{}",
            installed.name(),
            installed.program,
            identity.uid,
            config.initdb_arguments,
            config.text
        );
        Some(Self { dir: templates.join(hex(&Sha256::digest(made_from)[..12])) })
    }

    /// Fills a new instance with a copy; where it is the first, has `make` fill it, and keeps a copy.
    pub(super) fn fill(
        &self,
        instance: &Instance,
        make: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let lock = self.lock().map_err(|e| Error::write(&self.dir, e))?;
        let Ok(password) = fs::read_to_string(self.dir.join(PASSWORD)) else {
            make()?;
            return self.keep(instance).map_err(|e| Error::write(&self.dir, e));
        };
        // Whoever has a copy to make need not wait for another.
        drop(lock);
        instance.mark_password(password)?;
        instance.make_directories()?;
        let (data, owner) = (instance.data_dir(), Owner::of(&instance.setup().identity));
        let copied = copy_tree(&self.dir.join("data"), &data, owner, &AtomicBool::new(false));
        copied.map_err(|e| Error::write(&data, e))?;
        write_config(instance)
    }

    fn lock(&self) -> io::Result<Flock<File>> {
        fs::create_dir_all(self.dir.parent().unwrap_or(&self.dir))?;
        let file = File::create(self.dir.with_extension("lock"))?;
        Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno.into())
    }

    fn keep(&self, instance: &Instance) -> io::Result<()> {
        // Of one that was interrupted.
        let _ = fs::remove_dir_all(&self.dir);
        let data = self.dir.join("data");
        fs::create_dir_all(&data)?;
        copy_tree(&instance.data_dir(), &data, None, &AtomicBool::new(false))?;
        fs::write(self.dir.join(PASSWORD), instance.password())
    }
}
