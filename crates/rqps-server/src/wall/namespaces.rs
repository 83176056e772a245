//! A mount namespace in which all mounts are read-only, except for the server's own directories.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::{getegid, geteuid, write};

/// What is mounted how, with all texts made before the fork.
#[derive(Debug)]
pub(crate) struct Mounts {
    /// Directories that stay writable.
    writable: Vec<CString>,
    /// Maps of a user namespace, where one is needed to make mounts.
    user: Option<UserMaps>,
}

/// The user and the group of a user namespace: those outside.
#[derive(Debug)]
struct UserMaps {
    uid: String,
    gid: String,
}

impl Mounts {
    /// Prepares a namespace in which the directories of `writable` stay so, those that exist.
    pub(super) fn new(writable: &[PathBuf], has_user: bool) -> io::Result<Self> {
        let there = writable.iter().filter(|path| path.exists());
        let writable = there.map(|path| CString::new(path.as_os_str().as_bytes()));
        let line = |id: u32| format!("{id} {id} 1");
        let user = has_user
            .then(|| UserMaps { uid: line(geteuid().as_raw()), gid: line(getegid().as_raw()) });
        Ok(Self { writable: writable.collect::<Result<_, _>>()?, user })
    }

    /// Enters as root.
    pub(super) fn enter_as_root(&self) -> io::Result<()> {
        if self.user.is_some() {
            return Ok(());
        }
        unshare(CloneFlags::CLONE_NEWNS)?;
        self.mount_all()
    }

    /// Enters as an ordinary user, whose rights over mounts end with the execution of a program.
    pub(super) fn enter_as_user(&self) -> io::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
        // Without this the kernel refuses the map of groups: user_namespaces(7).
        put(c"/proc/self/setgroups", b"deny")?;
        put(c"/proc/self/uid_map", user.uid.as_bytes())?;
        put(c"/proc/self/gid_map", user.gid.as_bytes())?;
        self.mount_all()
    }

    fn mount_all(&self) -> io::Result<()> {
        let none = None::<&CStr>;
        // Nothing of this may reach other namespaces.
        mount(none, c"/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
        for dir in &self.writable {
            mount(
                Some(dir.as_c_str()),
                dir.as_c_str(),
                none,
                MsFlags::MS_BIND | MsFlags::MS_REC,
                none,
            )?;
        }
        set_read_only(c"/", true)?;
        for dir in &self.writable {
            set_read_only(dir, false)?;
        }
        Ok(())
    }
}

fn put(path: &CStr, text: &[u8]) -> io::Result<()> {
    let file = open(path, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    Ok(write(&file, text).map(drop)?)
}

/// Makes the mount at `path` and all below it read-only, or the mount at `path` alone writable.
#[expect(unsafe_code, reason = "no library has this system call")]
fn set_read_only(path: &CStr, is_read_only: bool) -> io::Result<()> {
    let read_only = libc::MOUNT_ATTR_RDONLY;
    let (attr_set, attr_clr, flags) =
        if is_read_only { (read_only, 0, libc::AT_RECURSIVE) } else { (0, read_only, 0) };
    let attributes = libc::mount_attr { attr_set, attr_clr, propagation: 0, userns_fd: 0 };
    // SAFETY: mount_setattr(2) reads a text that ends with a zero byte and a structure of the given size,
    // which are both there until it returns.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    Ok(Errno::result(result).map(drop)?)
}
