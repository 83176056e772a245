//! The gate that every entry of an archive passes: what is refused, what is kept, how it is written.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::meter::Meter;
use super::{Limits, Unpacked};
use crate::Error;
use crate::catalogue::{Layout, Links};

/// What an entry is.
pub(super) enum Kind<'a> {
    /// A directory.
    Directory,
    /// A file with its permission bits and content.
    File { mode: u32, content: &'a mut dyn Read },
    /// A symbolic link and where it points.
    Link(PathBuf),
    /// A second name of an entry that came before, by that entry's name.
    HardLink(PathBuf),
    /// Anything else: why it is refused.
    Other(&'static str),
}

/// Policy and state of one unpacking.
pub(super) struct Gate<'a> {
    archive: &'a Path,
    to: &'a Path,
    layout: &'a Layout,
    strip: String,
    limits: Limits,
    /// Whether entries that are not wanted are passed over whatever they are.
    ignores_the_rest: bool,
    meter: Rc<Meter<'a>>,
    n_entries: usize,
    done: Unpacked,
}

impl<'a> Gate<'a> {
    pub(super) fn new(
        archive: &'a Path,
        to: &'a Path,
        layout: &'a Layout,
        limits: (String, Limits),
        written: &'a mut dyn FnMut(u64) -> Result<(), Error>,
    ) -> Self {
        let (strip, limits) = limits;
        let done = Unpacked::default();
        let meter = Rc::new(Meter::new(archive, limits.bytes, written));
        Self {
            archive,
            to,
            layout,
            strip,
            limits,
            ignores_the_rest: false,
            meter,
            n_entries: 0,
            done,
        }
    }

    /// Takes the paths of what comes now as they are.
    pub(super) fn strip_nothing(&mut self) {
        self.strip.clear();
    }

    /// Judges entries that are wanted only.
    pub(super) fn that_ignores_the_rest(self) -> Self {
        Self { ignores_the_rest: true, ..self }
    }

    /// What the reader of the archive shares with the gate.
    pub(super) fn meter(&self) -> Rc<Meter<'a>> {
        Rc::clone(&self.meter)
    }

    pub(super) fn archive(&self) -> &'a Path {
        self.archive
    }

    pub(super) fn finish(self) -> Unpacked {
        self.done
    }

    /// Judges one entry and writes it when it is wanted.
    pub(super) fn pass(&mut self, name: &str, kind: Kind<'_>) -> Result<(), Error> {
        self.n_entries += 1;
        if self.n_entries > self.limits.entries {
            let limit = self.limits.entries;
            return Err(self.refuse(name, format!("is one more than the {limit} that are allowed")));
        }
        let path = self.safe_path(name)?;
        if self.ignores_the_rest && self.wanted(&path).is_none() {
            return Ok(());
        }
        if let Kind::Other(what) = kind {
            return Err(self.refuse(name, what.to_owned()));
        }
        let wanted = self.wanted(&path);
        // Where it will be is what counts: with a prefix taken off, the top is nearer.
        if let Kind::Link(target) = &kind
            && !stays_inside(wanted.as_ref().unwrap_or(&path), target)
        {
            let detail = format!(
                "is a link to {}, outside the archive or through `..` below a name",
                target.display()
            );
            return Err(self.refuse(name, detail));
        }
        if let Kind::HardLink(target) = &kind
            && self.safe_path(&target.to_string_lossy()).is_err()
        {
            let detail = format!("is a hard link to {}, outside the archive", target.display());
            return Err(self.refuse(name, detail));
        }
        let Some(wanted) = wanted else { return Ok(()) };
        match kind {
            Kind::Directory | Kind::Other(_) => Ok(()),
            Kind::HardLink(target) => self.hard_link(name, &wanted, &target),
            Kind::File { mode, content } => self.write_file(name, &wanted, mode, content),
            Kind::Link(target) => {
                let full = self.make_parent(name, &wanted)?;
                self.done.n_files += 1;
                symlink(target, &full).map_err(|e| Error::write(&full, e))
            }
        }
    }

    /// Makes a second name of a file that was unpacked before.
    fn hard_link(&mut self, name: &str, wanted: &Path, target: &Path) -> Result<(), Error> {
        let original = self.safe_path(&target.to_string_lossy())?;
        let kept = self.wanted(&original).map(|path| self.to.join(path));
        // A file's path that goes through no link was made by us.
        let original = kept.filter(|path| path.is_file() && !through_link(self.to, path));
        let Some(original) = original else {
            let detail = format!("is a hard link to {}, which is not kept", target.display());
            return Err(self.refuse(name, detail));
        };
        let full = self.make_parent(name, wanted)?;
        self.done.n_files += 1;
        fs::hard_link(original, &full).map_err(|e| Error::write(&full, e))
    }

    /// Makes the links that a list in the tree names: archives of npm cannot hold any.
    pub(super) fn make_links(&mut self, links: &Links) -> Result<(), Error> {
        #[derive(serde::Deserialize)]
        struct Listed {
            source: String,
            target: String,
        }
        let list = self.to.join(&links.file);
        let corrupt = |detail: String| Error::CorruptArchive {
            archive: self.archive.to_owned(),
            detail: format!("{}: {detail}", links.file),
        };
        let text = fs::read(&list).map_err(|e| corrupt(e.to_string()))?;
        let listed: Vec<Listed> =
            serde_json::from_slice(&text).map_err(|e| corrupt(e.to_string()))?;
        for Listed { source, target } in &listed {
            let (from, to) = (source.strip_prefix(&links.strip), target.strip_prefix(&links.strip));
            let (Some(from), Some(to)) = (from, to) else {
                return Err(corrupt(format!(
                    "{target:?} to {source:?} is not below {}",
                    links.strip
                )));
            };
            let (from, to) = (self.safe_path(from)?, self.safe_path(to)?);
            let full = self.make_parent(target, &to)?;
            let up = to.components().count().saturating_sub(1);
            let mut path: PathBuf = std::iter::repeat_n("..", up).collect();
            path.push(&from);
            // In the same directory, as nearly all are, the name alone.
            if from.parent() == to.parent() {
                path = from.file_name().map_or(path, PathBuf::from);
            }
            match symlink(path, &full) {
                // Some archives hold a copy of the file where the link should be.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                other => other.map_err(|e| Error::write(&full, e))?,
            }
            self.done.n_files += 1;
        }
        Ok(())
    }

    fn refuse(&self, entry: &str, detail: String) -> Error {
        Error::UnsafeArchive { archive: self.archive.to_owned(), entry: entry.to_owned(), detail }
    }

    /// The entry's path, of plain names only.
    fn safe_path(&self, name: &str) -> Result<PathBuf, Error> {
        if name.contains(['\0', '\\']) {
            return Err(self.refuse(name, "has a name that is not a plain path".to_owned()));
        }
        let mut path = PathBuf::new();
        for component in Path::new(name).components() {
            match component {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                Component::ParentDir => {
                    return Err(self.refuse(name, "leaves the archive with `..`".to_owned()));
                }
                Component::RootDir | Component::Prefix(_) => {
                    return Err(self.refuse(name, "has an absolute path".to_owned()));
                }
            }
        }
        Ok(path)
    }

    /// The path below the prefix, when the layout keeps it.
    fn wanted(&self, path: &Path) -> Option<PathBuf> {
        let text = path.to_str()?;
        let moved = self.layout.beside.iter().find_map(|(start, place)| {
            Some(Path::new(place).join(text.strip_prefix(start.as_str())?))
        });
        if moved.is_some() {
            return moved;
        }
        let text = match self.strip.as_str() {
            "*/" => text.split_once('/')?.1,
            strip => text.strip_prefix(strip)?,
        };
        let begins = |list: &[String]| list.iter().any(|start| text.starts_with(start.as_str()));
        (begins(&self.layout.keep) && !begins(&self.layout.drop)).then(|| PathBuf::from(text))
    }

    /// Makes the parent directories, none of which may be a link, and gives the full path.
    fn make_parent(&self, name: &str, wanted: &Path) -> Result<PathBuf, Error> {
        let mut dir = self.to.to_owned();
        for part in wanted.parent().into_iter().flat_map(Path::components) {
            dir.push(part);
            match fs::symlink_metadata(&dir) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => {
                    let detail = "goes through a link or a file".to_owned();
                    return Err(self.refuse(name, detail));
                }
                Err(_) => {
                    fs::create_dir(&dir).map_err(|e| Error::write(&dir, e))?;
                    open_to_all(&dir, 0o755)?;
                }
            }
        }
        Ok(self.to.join(wanted))
    }

    fn write_file(
        &mut self,
        name: &str,
        wanted: &Path,
        mode: u32,
        content: &mut dyn Read,
    ) -> Result<(), Error> {
        let full = self.make_parent(name, wanted)?;
        let text = wanted.to_string_lossy();
        let executable = mode & 0o111 != 0
            || self.layout.executable.iter().any(|start| text.starts_with(start.as_str()));
        let mut options = OpenOptions::new();
        // create_new neither follows a link nor overwrites an earlier entry of the same name.
        let mut file = match options.write(true).create_new(true).mode(0o644).open(&full) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(self.refuse(name, "occurs twice".to_owned()));
            }
            other => other.map_err(|e| Error::write(&full, e))?,
        };
        let mut buffer = vec![0_u8; 256 * 1024];
        loop {
            let n = match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    let detail = format!("entry {name:?}: {e}");
                    return Err(Error::CorruptArchive { archive: self.archive.to_owned(), detail });
                }
            };
            self.done.bytes += n as u64;
            if self.done.bytes > self.limits.bytes {
                let limit = self.limits.bytes / 1_000_000;
                return Err(self.refuse(name, format!("exceeds the {limit} MB that are allowed")));
            }
            file.write_all(&buffer[..n]).map_err(|e| Error::write(&full, e))?;
            self.meter.wrote(self.done.bytes)?;
        }
        self.done.n_files += 1;
        open_to_all(&full, if executable { 0o755 } else { 0o644 })
    }
}

/// Whether a path below `top` goes through a symbolic link, or is one.
fn through_link(top: &Path, path: &Path) -> bool {
    path.ancestors().take_while(|part| *part != top).any(Path::is_symlink)
}

/// Sets a mode whatever the umask: as root, another user runs what is unpacked.
fn open_to_all(path: &Path, mode: u32) -> Result<(), Error> {
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(|e| Error::write(path, e))
}

/// Whether a link at `path` that points to `target` stays inside the tree, whatever other links are
/// in it: it climbs first, from a directory that is none, and never again after a name, which might
/// be a link to somewhere higher. Each link on the way is such a one, too.
fn stays_inside(path: &Path, target: &Path) -> bool {
    let depth = path.components().count().saturating_sub(1);
    let plain = |c: &Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
    let mut components = target.components().filter(|c| *c != Component::CurDir).peekable();
    let mut n_up = 0;
    while components.next_if_eq(&Component::ParentDir).is_some() {
        n_up += 1;
    }
    n_up <= depth && components.all(|c| plain(&c)) && target.components().next().is_some()
}
