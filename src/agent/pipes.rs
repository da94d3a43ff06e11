//! The threads around one program: who reads its output, who writes its input, who waits for its exit.
//!
//! All report through one bounded channel, so a program that floods its output is held back by its own
//! pipe and costs a few lines of memory. Writing is done aside, so a program that never reads its input, or
//! closes it, holds up nobody. The threads are not waited for: each ends by itself once the pipe, the
//! program or the listener is gone.

use std::io::{self, Read, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions};

use super::lines::{Line, LineReader};

/// How many lines may wait to be heard.
const WAITING_LINES: usize = 16;

/// One of the two outputs of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Where the protocol is spoken.
    Stdout,
    /// Where programs complain.
    Stderr,
}

/// What the threads report.
#[derive(Debug)]
pub(super) enum Message {
    /// A line of output.
    Line(Stream, Line),
    /// An output was closed by all who held it.
    Closed,
    /// The program has exited and can be collected.
    Exited,
}

/// The pipes of a running program.
#[derive(Debug)]
pub(super) struct Pipes {
    /// What the threads report.
    pub(super) messages: Receiver<Message>,
    /// Keeps the channel open, so that waiting for a message takes its time also when all threads have ended.
    _open: SyncSender<Message>,
    /// What goes to the program's stdin; it is closed when this is dropped.
    pub(super) input: Option<Sender<Vec<u8>>>,
    /// How many outputs are not closed yet.
    pub(super) open_outputs: usize,
}

impl Pipes {
    /// Takes the pipes of a child, each with a thread.
    pub(super) fn open(child: &mut Child) -> io::Result<Self> {
        let (report, messages) = sync_channel(WAITING_LINES);
        let mut open_outputs = 0;
        if let Some(stdout) = child.stdout.take() {
            read_aside("stdout", Stream::Stdout, stdout, report.clone())?;
            open_outputs += 1;
        }
        if let Some(stderr) = child.stderr.take() {
            read_aside("stderr", Stream::Stderr, stderr, report.clone())?;
            open_outputs += 1;
        }
        let input = child.stdin.take().map(write_aside).transpose()?;
        wait_aside(Pid::from_child(child), report.clone())?;
        Ok(Self { messages, _open: report, input, open_outputs })
    }
}

fn aside(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

fn read_aside(
    name: &str,
    stream: Stream,
    source: impl Read + Send + 'static,
    report: SyncSender<Message>,
) -> io::Result<()> {
    aside(name, move || {
        let mut lines = LineReader::new(source);
        while let Ok(Some(line)) = lines.next_line() {
            if report.send(Message::Line(stream, line)).is_err() {
                return;
            }
        }
        let _ = report.send(Message::Closed);
    })
}

fn write_aside(mut stdin: ChildStdin) -> io::Result<Sender<Vec<u8>>> {
    let (input, bytes) = channel::<Vec<u8>>();
    aside("stdin", move || {
        for chunk in bytes {
            // A program may close its input; that is its own affair.
            if stdin.write_all(&chunk).is_err() {
                return;
            }
        }
    })?;
    Ok(input)
}

/// Waits without collecting, so that pid and process group stay taken until the turn is over.
fn wait_aside(pid: Pid, report: SyncSender<Message>) -> io::Result<()> {
    aside("exit", move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(rustix::process::waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        let _ = report.send(Message::Exited);
    })
}
