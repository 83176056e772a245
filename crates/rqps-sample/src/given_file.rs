//! Files that a user names, read whole. Devices cannot fill the memory, and pipes cannot block for ever.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How long a pipe may take to its end: what is behind it (`<(pass show db)`) may ask somebody for a word.
const PIPE_TIME: Duration = Duration::from_secs(10);

/// The bytes of a regular file, or of a pipe that ends within ten seconds.
///
/// # Errors
/// When the file cannot be read, is another kind of file, or has more than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_with_mode(path, limit).map(|(bytes, _)| bytes)
}

/// The text of such a file, and whether its group or everybody may read it. Nobody else reads a pipe.
///
/// # Errors
/// As [`read_text`].
pub fn read_text_with_access(path: &Path, limit: u64) -> io::Result<(String, Access)> {
    let (bytes, mode) = read_with_mode(path, limit)?;
    let is_open = mode.is_some_and(|mode| mode & READ_BY_OTHERS != 0);
    Ok((utf8(bytes)?, if is_open { Access::Others } else { Access::OwnerAlone }))
}

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its owner alone.
    OwnerAlone,
    /// Others of the host, too.
    Others,
}

/// The bits of a file's mode that let its group or everybody read it.
const READ_BY_OTHERS: u32 = 0o044;

/// The bytes, and the mode of a regular file.
fn read_with_mode(path: &Path, limit: u64) -> io::Result<(Vec<u8>, Option<u32>)> {
    // A pipe that nobody writes to would make the opening wait.
    let file = File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    let meta = file.metadata()?;
    let kind = meta.file_type();
    let bytes = if kind.is_fifo() {
        read_pipe(&file, limit, PIPE_TIME)?
    } else if kind.is_file() {
        if meta.len() > limit {
            return Err(too_large(limit));
        }
        // Files of /proc say that they are empty, and others may grow.
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        bytes
    } else if kind.is_dir() {
        return Err(Errno::EISDIR.into());
    } else {
        return Err(io::Error::other("it is not a regular file; name a regular file"));
    };
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    Ok((bytes, kind.is_file().then(|| meta.mode())))
}

/// The text of such a file.
///
/// # Errors
/// As [`read`], or when it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    utf8(read(path, limit)?)
}

fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// What comes out of a pipe to its end, or a little more than `limit` bytes of it.
fn read_pipe(pipe: &File, limit: u64, time: Duration) -> io::Result<Vec<u8>> {
    let until = Instant::now() + time;
    let mut reader = pipe;
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    while bytes.len() as u64 <= limit {
        let left = until.saturating_duration_since(Instant::now());
        let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, left) {
            Ok(0) => {
                let text = format!("the pipe did not end within {time:?}; name a regular file");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Ok(_) => {}
            // Nothing is known of the pipe: a read could take one that nobody writes to yet for ended.
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        match reader.read(&mut part) {
            Ok(0) => break,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

/// Whether a read that failed is to be tried again.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn too_large(limit: u64) -> io::Error {
    let shown = match limit {
        0..0x10_0000 => format!("{} KiB", limit >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", limit >> 20),
        _ => format!("{} GiB", limit >> 30),
    };
    let text = format!("too large: at most {shown} are read");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn what_has_no_end_or_is_too_large_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(read(&path, 10).unwrap(), b"0123456789");
        assert_eq!(read_text(&path, 10).unwrap(), "0123456789");
        let error = read(&path, 9).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        // It says that it is empty.
        let error = read(Path::new("/proc/self/status"), 5).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let link = dir.path().join("link");
        symlink("/dev/zero", &link).unwrap();
        assert!(read(&link, 10).unwrap_err().to_string().contains("not a regular file"));
        assert_eq!(read(dir.path(), 10).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let missing = read(&dir.path().join("nothing"), 10).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::write(&path, b"\xff").unwrap();
        assert!(read_text(&path, 10).unwrap_err().to_string().contains("not UTF-8"));
        assert_eq!(too_large(64 << 10).to_string(), "too large: at most 64 KiB are read");
        assert_eq!(too_large(16 << 20).to_string(), "too large: at most 16 MiB are read");
        assert_eq!(too_large(1 << 30).to_string(), "too large: at most 1 GiB are read");
    }

    #[test]
    fn who_may_read_a_file_is_told() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "secret").unwrap();
        for (mode, access) in [
            (0o600, Access::OwnerAlone),
            (0o400, Access::OwnerAlone),
            (0o640, Access::Others),
            (0o604, Access::Others),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let read = read_text_with_access(&path, 10).unwrap();
            assert_eq!(read, ("secret".to_owned(), access), "{mode:o}");
        }
    }

    #[test]
    fn pipes_are_read_to_their_end_and_not_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        mkfifo(&path, Mode::S_IRWXU).unwrap();
        let open = || {
            File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(&path).unwrap()
        };
        let short = Duration::from_millis(20);
        // Nobody writes.
        let error = read_pipe(&open(), 10, short).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        // Somebody does, and never ends.
        let endless = File::options().read(true).write(true).open(&path).unwrap();
        let error = read_pipe(&open(), 10, short).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(endless);
        let write = |text: String| {
            let path = path.clone();
            std::thread::spawn(move || fs::write(path, text))
        };
        let writer = write("secret\n".to_owned());
        assert_eq!(read(&path, 10).unwrap(), b"secret\n");
        writer.join().unwrap().unwrap();
        let writer = write("x".repeat(1 << 20));
        let error = read(&path, 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(writer.join().unwrap().is_err(), "all of it was taken");
    }
}
