//! Lines of bytes from a pipe, within bounds.
//!
//! A reader never holds more than [`MAX_LINE`] bytes of one line, whatever is poured into it: of a longer
//! line it keeps the start, counts the rest away and goes on with the next one. Bytes stay bytes; a last
//! line without a line feed counts as a line. There is no promise about how long a line takes to arrive.

use std::io::{self, BufRead, BufReader, Read};

/// The longest line that is delivered whole, in bytes without its line feed: 1 MiB.
pub(crate) const MAX_LINE: u64 = 1 << 20;

/// How much is kept of a line that is longer, in bytes: 4 KiB.
pub(crate) const KEPT_START: usize = 4 << 10;

/// One line, without its line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// All bytes of the line.
    Whole(Vec<u8>),
    /// A line over [`MAX_LINE`]: its first [`KEPT_START`] bytes and its true length in bytes.
    TooLong { start: Vec<u8>, bytes: u64 },
}

/// Reads lines from a pipe.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    source: BufReader<R>,
}

impl<R: Read> LineReader<R> {
    /// Makes a reader of the lines of `source`.
    pub(crate) fn new(source: R) -> Self {
        Self { source: BufReader::with_capacity(64 << 10, source) }
    }

    /// Waits for the next line; `None` at the end of the pipe.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let read = self.read_on(&mut line, MAX_LINE + 1)?;
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some(Line::Whole(line)));
        }
        if read <= MAX_LINE {
            return Ok((read > 0).then_some(Line::Whole(line)));
        }
        line.truncate(KEPT_START);
        line.shrink_to_fit();
        Ok(Some(Line::TooLong { start: line, bytes: read.saturating_add(self.skip_line()?) }))
    }

    /// Reads up to and with the next line feed, but at most `limit` bytes.
    fn read_on(&mut self, line: &mut Vec<u8>, limit: u64) -> io::Result<u64> {
        let read = (&mut self.source).take(limit).read_until(b'\n', line)?;
        Ok(u64::try_from(read).unwrap_or(u64::MAX))
    }

    /// Reads the rest of a line away; returns its length without the line feed.
    fn skip_line(&mut self) -> io::Result<u64> {
        let mut bytes: u64 = 0;
        let mut chunk = Vec::new();
        loop {
            chunk.clear();
            let read = self.read_on(&mut chunk, 64 << 10)?;
            bytes = bytes.saturating_add(read);
            if read == 0 {
                return Ok(bytes);
            }
            if chunk.last() == Some(&b'\n') {
                return Ok(bytes - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: impl Read) -> Vec<Line> {
        let mut reader = LineReader::new(source);
        std::iter::from_fn(|| reader.next_line().unwrap()).collect()
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_come_as_they_were_written() {
        assert_eq!(lines(&b"a\n\nb\r\nc"[..]), [whole("a"), whole(""), whole("b\r"), whole("c")]);
        assert_eq!(lines(&b"\xff\x00\n"[..]), [Line::Whole(vec![0xff, 0])]);
        assert_eq!(lines(&b""[..]), []);
    }

    #[test]
    fn a_line_of_the_limit_is_whole_and_one_byte_more_is_not() {
        let limit = io::repeat(b'x').take(MAX_LINE);
        assert_eq!(lines(limit.chain(&b"\nz\n"[..])), [Line::Whole(vec![b'x'; 1 << 20]), whole("z")]);
        let more = io::repeat(b'x').take(MAX_LINE + 1);
        let cut = Line::TooLong { start: vec![b'x'; KEPT_START], bytes: MAX_LINE + 1 };
        assert_eq!(lines(more.chain(&b"\nz\n"[..])), [cut.clone(), whole("z")]);
        assert_eq!(lines(io::repeat(b'x').take(MAX_LINE + 1)), [cut], "also at the end of the pipe");
    }

    #[test]
    fn a_huge_line_is_counted_and_not_held() {
        let huge = io::repeat(b'x').take(1 << 30);
        let mut reader = LineReader::new(huge.chain(&b"\nz"[..]));
        let Some(Line::TooLong { start, bytes }) = reader.next_line().unwrap() else { panic!("it was not cut") };
        assert_eq!(bytes, 1 << 30);
        assert_eq!(start, vec![b'x'; KEPT_START]);
        assert!(start.capacity() <= 2 << 20, "{} bytes were held", start.capacity());
        assert_eq!(reader.next_line().unwrap(), Some(whole("z")));
    }
}
