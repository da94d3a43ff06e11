//! What runs on this machine, read from `/proc`, and signals that hit only what was meant.
//!
//! A process is named by its pid **and** its start time, since a pid alone means someone else after it was
//! used again; a signal is sent through a descriptor of the process, after its start time was compared. A
//! process that has ended and only waits to be collected counts as gone. A process of another user may hide
//! its environment; then it is found through its parent or not at all. Nothing here is ever sent to pid 1,
//! to ourselves or to our own ancestors, because they are in no list that is made here.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

/// How long to wait for a process that is just becoming another program.
const EXEC_PATIENCE: Duration = Duration::from_millis(200);

/// A process, certain beyond the reuse of its pid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its pid.
    pub(crate) pid: i32,
    /// The name the kernel gives it: the first 15 bytes of the program's name, printable.
    pub(crate) name: String,
    /// When it started, in clock ticks since the machine did.
    pub(crate) start: u64,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (pid {})", self.name, self.pid)
    }
}

impl Process {
    /// Sends a signal, if this process still lives; what cannot be sent is not reported.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) if self.is_the_one() => {
                let _ = rustix::process::pidfd_send_signal(descriptor, signal);
            }
            // An old kernel or a sandbox without such descriptors.
            Err(Errno::NOSYS | Errno::PERM) if self.is_the_one() => {
                let _ = rustix::process::kill_process(pid, signal);
            }
            _ => {}
        }
    }

    fn is_the_one(&self) -> bool {
        Entry::read(self.pid).is_ok_and(|entry| entry.process.start == self.start)
    }
}

/// A process and where it belongs.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The process.
    pub(super) process: Process,
    /// The pid of its parent.
    pub(super) parent: i32,
    /// The id of its process group.
    pub(super) group: i32,
    /// Whether it has ended and only waits to be collected.
    pub(super) ended: bool,
}

impl Entry {
    /// Reads one process.
    pub(super) fn read(pid: i32) -> io::Result<Self> {
        let stat = std::fs::read(format!("/proc/{pid}/stat"))?;
        Self::parse(pid, &stat).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unknown format of stat"))
    }

    /// Understands `/proc/<pid>/stat`, whose second field is a name that may hold anything.
    fn parse(pid: i32, stat: &[u8]) -> Option<Self> {
        let open = stat.iter().position(|byte| *byte == b'(')?;
        let close = stat.iter().rposition(|byte| *byte == b')')?;
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?);
        let name = name.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect();
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let threads: u64 = fields.get(17)?.parse().ok()?;
        Some(Self {
            process: Process { pid, name, start: fields.get(19)?.parse().ok()? },
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            // A process whose first thread has ended but not the others looks like a zombie and works on.
            ended: matches!(*fields.first()?, "Z" | "X") && threads <= 1,
        })
    }

    /// Tells whether one of the variables that the process started with fulfils a condition.
    ///
    /// A variable is `NAME=value`. No, where the environment cannot be read.
    pub(super) fn has_variable(&self, condition: impl Fn(&[u8]) -> bool) -> bool {
        self.environment().split(|byte| *byte == 0).any(condition)
    }

    fn environment(&self) -> Vec<u8> {
        let pid = self.process.pid;
        let read = || std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let start = Instant::now();
        let mut bytes = read();
        while bytes.is_empty() && is_in_exec(pid) && start.elapsed() < EXEC_PATIENCE {
            std::thread::yield_now();
            bytes = read();
        }
        // It may have become the other program between the last two looks.
        if bytes.is_empty() { read() } else { bytes }
    }
}

/// Tells whether a process is just becoming another program: it has memory, but no environment yet.
fn is_in_exec(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
    let (memory, end_of_environment) = (fields.get(20), fields.get(48));
    memory.is_some_and(|bytes| *bytes != "0") && end_of_environment == Some(&"0")
}

/// All processes at about one moment.
#[derive(Debug)]
pub(super) struct Table {
    entries: HashMap<i32, Entry>,
}

impl Table {
    /// Reads all processes; those that come and go meanwhile may be missing.
    pub(super) fn read() -> io::Result<Self> {
        let mut entries = HashMap::new();
        for file in std::fs::read_dir("/proc")? {
            let Some(pid) = file?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if let Ok(entry) = Entry::read(pid) {
                entries.insert(pid, entry);
            }
        }
        Ok(Self { entries })
    }

    /// Lists everything but pid 1, ourselves and our ancestors.
    pub(super) fn strangers(&self) -> impl Iterator<Item = &Entry> {
        let kin = self.ourselves_and_ancestors();
        self.entries.values().filter(move |entry| !kin.contains(&entry.process.pid))
    }

    fn ourselves_and_ancestors(&self) -> Vec<i32> {
        let mut kin = vec![1, 0];
        let mut pid = our_pid();
        while !kin.contains(&pid) {
            kin.push(pid);
            pid = self.entries.get(&pid).map_or(0, |entry| entry.parent);
        }
        kin
    }
}

/// Returns our own pid.
pub(super) fn our_pid() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

/// Writes a variable of an environment as `/proc` shows it.
pub(super) fn variable(name: &str, value: &OsStr) -> Vec<u8> {
    [name.as_bytes(), b"=", value.as_bytes()].concat()
}

/// Finds every live process that was started by a run of the project with this state folder.
///
/// It is known by `AUTODEV_STATE` in its environment, so it is found also when autodev itself was killed.
/// Ourselves and our ancestors are left out. Where `/proc` cannot be read nobody knows, which is an error.
pub(crate) fn find_by_state_folder(state: &Path) -> Result<Vec<Process>, super::Error> {
    let mark = variable("AUTODEV_STATE", state.as_os_str());
    let table = Table::read().map_err(|source| super::Error::CannotSee { source })?;
    let mut found: Vec<Process> = table
        .strangers()
        .filter(|entry| !entry.ended && entry.has_variable(|variable| variable == mark))
        .map(|entry| entry.process.clone())
        .collect();
    found.sort_by_key(|process| process.pid);
    Ok(found)
}

/// Returns our own pid and start, as others can check them.
pub(crate) fn this_process() -> (i32, u64) {
    let pid = our_pid();
    (pid, Entry::read(pid).map_or(0, |entry| entry.process.start))
}

/// Tells whether the process with this pid is the one that started then, and alive.
pub(crate) fn is_alive(pid: i32, start: u64) -> bool {
    Entry::read(pid).is_ok_and(|entry| entry.process.start == start && !entry.ended)
}

/// Asks a process to end; whoever else has its pid now hears nothing.
pub(crate) fn terminate(pid: i32, start: u64) {
    Process { pid, name: String::new(), start }.signal(Signal::TERM);
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests look at real programs")]
pub(super) mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, Stdio};

    /// A program that is certainly running, does nothing, and ends with the test.
    pub(in crate::agent) struct Idler(pub(in crate::agent) Child);

    impl Idler {
        pub(in crate::agent) fn new(run: &str, state: &Path) -> Self {
            let mut command = Command::new("cat");
            command.env("AUTODEV_RUN", run).env("AUTODEV_STATE", state);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.as_mut().unwrap().write_all(b"!").unwrap();
            child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            Self(child)
        }

        pub(in crate::agent) fn pid(&self) -> i32 {
            i32::try_from(self.0.id()).unwrap()
        }
    }

    impl Drop for Idler {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"7 (a) S (\n)) R 3 4 4 0 -1 1 2 3 4 5 6 7 8 9 20 0 2 0 777 1 2 3";
        let entry = Entry::parse(7, stat).unwrap();
        assert_eq!(entry.process, Process { pid: 7, name: "a) S (?)".to_owned(), start: 777 });
        assert_eq!((entry.parent, entry.group, entry.ended), (3, 4, false));
        assert_eq!(entry.process.to_string(), "a) S (?) (pid 7)");
    }

    #[test]
    fn a_zombie_with_live_threads_has_not_ended() {
        let stat = |threads| format!("7 (a) Z 3 4 4 0 -1 1 2 3 4 5 6 7 8 9 20 0 {threads} 0 777 1");
        assert!(Entry::parse(7, stat(1).as_bytes()).unwrap().ended);
        assert!(!Entry::parse(7, stat(2).as_bytes()).unwrap().ended);
    }

    #[test]
    fn a_process_is_found_by_its_state_folder() {
        let folder = tempfile::tempdir().unwrap();
        let idler = Idler::new("r1", folder.path());
        let found = find_by_state_folder(folder.path()).unwrap();
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [format!("cat (pid {})", idler.pid())]);
        assert_eq!(find_by_state_folder(&folder.path().join("other")).unwrap(), []);
    }

    #[test]
    fn who_only_waits_to_be_collected_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut idler = Idler::new("r1", folder.path());
        idler.0.kill().unwrap();
        let options = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(Pid::from_child(&idler.0)), options).unwrap();
        assert!(Entry::read(idler.pid()).unwrap().ended);
        assert_eq!(find_by_state_folder(folder.path()).unwrap(), []);
    }

    #[test]
    fn a_signal_misses_whoever_has_the_pid_now() {
        let folder = tempfile::tempdir().unwrap();
        let mut idler = Idler::new("r1", folder.path());
        let process = Entry::read(idler.pid()).unwrap().process;
        let former = Process { start: process.start - 1, ..process.clone() };
        former.signal(Signal::KILL);
        assert!(idler.0.try_wait().unwrap().is_none());
        process.signal(Signal::TERM);
        assert_eq!(idler.0.wait().unwrap().signal(), Some(15), "the first signal would have been 9");
    }

    #[test]
    fn we_and_our_ancestors_are_no_strangers() {
        let table = Table::read().unwrap();
        let parent = rustix::process::getppid().unwrap().as_raw_pid();
        assert!(table.strangers().all(|entry| ![1, our_pid(), parent].contains(&entry.process.pid)));
    }
}
