//! The program: hands the arguments to the library and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    autodev::program(std::env::args_os())
}
