//! One binary for all stories: each file is one, and its tests are sentences that are true of the program.
//!
//! Every story runs the program itself in a sandbox of its own (`sandbox`), next to the real git, which judges
//! what came of it. Nothing here knows how the program is made inside, but for `arrows`, which reads its rooms.
#![allow(clippy::disallowed_methods, reason = "tests make the files and start the programs that they need")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test that cannot go on has failed")]
#![allow(clippy::needless_pass_by_value, reason = "helpers take what reads best in a sentence")]

mod a_run;
mod a_thread;
mod arrows;
mod bad_input;
mod bad_participants;
mod cases;
mod credit_a_task;
mod cut_anywhere;
mod cut_from_outside;
mod cut_scenarios;
mod cut_view;
mod edit_meanwhile;
mod failed_work;
mod go_back;
mod hold_any_file;
mod in_the_way;
mod killed_while_git_works;
mod leave_out;
mod look;
mod make_a_checkpoint;
mod many_at_once;
mod never_lose;
mod never_touch;
mod on_disk_first;
mod room_of_git;
mod run_control;
mod run_sandbox;
mod sandbox;
mod see_what_is_new;
mod the_demo;
mod the_doctor;
mod the_readme;
mod the_sample;
mod the_specification;
mod where_it_is;
