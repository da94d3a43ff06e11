//! The known failure cases of the field, each a shell script under `tests/fixtures/cases`.
//!
//! A script plays the user and a chain of commands, and checks what must hold afterwards; it ends with git as the
//! judge. It runs with an empty environment and a home of its own. A check that lacks its tool says so and
//! passes, unless `CI` is set.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a script in a fresh folder; its output is the message when it fails.
#[expect(clippy::print_stdout, reason = "says what could not be checked")]
#[expect(clippy::disallowed_methods, reason = "this is where the scripts are started")]
fn run(name: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases").join(name).with_extension("sh");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = Command::new("sh");
    command.arg("-eu").arg(&script).current_dir(folder.path()).stdin(Stdio::null());
    command.env_clear().env("HOME", folder.path().join("home")).env("CASE_FOLDER", folder.path());
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C").env("AUTODEV", env!("CARGO_BIN_EXE_autodev"));
    for kept in ["PATH", "CI"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    let output = command.output().expect("sh can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{said}{errors}", script.display(), output.status);
    if said.contains("skipped:") {
        println!("{name}: {said}");
    }
}

macro_rules! cases {
    ($($(#[$attribute:meta])* $name:ident: $script:literal,)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $name() {
                run($script);
            }
        )*

        #[test]
        fn every_script_is_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
            let entries = std::fs::read_dir(folder).expect("the scripts are there");
            let mut there: Vec<String> = entries
                .map(|entry| entry.expect("the folder can be read").file_name().to_string_lossy().into_owned())
                .filter(|name| name != "prologue.sh")
                .collect();
            there.sort();
            let listed: Vec<String> = [$($script),*].iter().map(|name| format!("{name}.sh")).collect();
            assert_eq!(there, listed);
        }
    };
}

cases! {
    b001_result_files_are_held_before_they_go: "b001",
    b002_younger_ignore_rules_protect_on_both_ways: "b002",
    b004_oversized_files_are_named_and_stay: "b004",
    b006_staged_untracked_and_ignored_files_in_the_way_are_held: "b006",
    b007_going_back_does_not_block_the_way_forth: "b007",
    b008_a_path_that_cannot_be_staged_makes_no_stale_checkpoint: "b008",
    b009_failing_hooks_do_not_run: "b009",
    b011_what_cannot_be_written_or_removed_fails_the_restore: "b011",
    b013_one_failure_does_not_switch_checkpoints_off: "b013",
    b014_a_folder_without_git_is_told_so: "b014",
    b015_ids_are_given_out_once: "b015",
    b016_going_back_is_exact: "b016",
    b017_what_a_shell_did_goes_back_too: "b017",
    b019_a_checkpoint_of_nothing_works: "b019",
    b021_going_back_can_be_gone_back_from: "b021",
    b022_commits_left_behind_are_held: "b022",
    b024_what_cannot_be_held_is_not_replaced: "b024",
    b026_a_damaged_target_is_noticed_before_anything_moves: "b026",
    b027_the_printed_command_brings_the_work_back: "b027",
    b028_lines_by_hand_are_held_and_previewed: "b028",
    b038_the_home_folder_is_no_project: "b038",
    b039_a_state_folder_inside_is_never_captured: "b039",
    b041_thousands_of_untracked_files_are_hashed_once: "b041",
    b042_a_huge_file_is_named_and_not_read: "b042",
    b043_no_room_left_leaves_nothing_cut_off: "b043",
    b045_git_folders_of_nested_repositories_stay: "b045",
    b046_nested_clones_are_named_and_left_alone: "b046",
    b048_our_own_folder_shows_nowhere: "b048",
    b051_inside_a_submodule_the_root_is_its_folder: "b051",
    b052_a_dead_lock_of_the_user_is_named_and_stays: "b052",
    b054_killed_at_any_call_of_git_nothing_is_lost: "b054",
    b056_one_damaged_object_does_not_cost_the_others: "b056",
    b057_eight_at_once_are_made_or_busy: "b057",
    b058_a_run_stops_a_restore: "b058",
    b060_the_stash_is_never_used: "b060",
    b062_files_may_change_while_they_are_captured: "b062",
    b063_reading_leaves_the_index_alone: "b063",
    b064_a_hook_of_another_repository_redirects_nothing: "b064",
    b065_inherited_variables_redirect_nothing: "b065",
    b069_nobody_is_asked_for_a_signature: "b069",
    b070_hooks_of_the_project_do_not_run: "b070",
    b072_no_identity_is_needed_or_written: "b072",
    b074_display_settings_change_nothing: "b074",
    b075_no_decision_hangs_on_words_of_git: "b075",
    b077_programs_in_the_configuration_are_not_started: "b077",
    b079_secrets_are_in_no_object_and_stay: "b079",
    b080_tracked_and_ignored_files_stay_tracked: "b080",
    b082_source_with_suspicious_names_is_held: "b082",
    b084_line_endings_and_filters_lose_no_byte: "b084",
    b085_bytes_are_bytes: "b085",
    b089_edits_of_equal_size_and_time_are_seen: "b089",
    b091_execute_bits_are_part_of_the_state: "b091",
    b093_files_that_are_right_are_not_touched: "b093",
    b094_names_are_bytes: "b094",
    b095_names_are_no_options_patterns_or_revisions: "b095",
    b098_twelve_thousand_names_fit: "b098",
    b099_nothing_goes_through_a_link: "b099",
    b101_files_folders_and_links_trade_places: "b101",
    b103_special_files_block_nothing_and_stay: "b103",
    b104_a_tracked_file_that_became_a_pipe_is_named: "b104",
    b105_folders_that_were_empty_stay: "b105",
    b106_staged_content_is_held: "b106",
    b107_announced_files_have_their_content: "b107",
    b109_a_sparse_checkout_loses_nothing: "b109",
    b110_files_outside_of_the_cone_stay: "b110",
    b111_hidden_settings_are_not_overwritten: "b111",
    b113_operations_in_progress_stop_a_checkpoint: "b113",
    b114_an_open_merge_stops_a_restore: "b114",
    b116_a_merge_is_concluded_by_its_user: "b116",
    b117_without_a_commit_the_first_checkpoint_is_the_first: "b117",
    b119_a_detached_head_stays_detached_and_held: "b119",
    b120_linked_worktrees_have_their_own: "b120",
    b122_reftables_are_refused_in_one_sentence: "b122",
    b123_long_ids_work: "b123",
    b125_bare_repositories_are_refused: "b125",
    b127_a_foreign_owner_is_the_users_decision: "b127",
    b128_from_a_folder_inside_the_root_is_the_top: "b128",
    b129_one_list_from_everywhere: "b129",
    b131_a_link_to_the_root_is_the_root: "b131",
    b132_blocked_branch_names_stop_before_anything_moves: "b132",
    b133_one_second_and_clocks_that_go_back: "b133",
    b135_a_renamed_branch_is_made_again: "b135",
    b136_what_is_listed_survives_gc: "b136",
    b137_a_damaged_ledger_is_kept_and_said: "b137",
    b140_a_checkpoint_whose_content_is_gone_is_refused: "b140",
    b142_only_what_there_is_to_keep: "b142",
    b145_lock_files_with_reused_numbers_stop_nothing: "b145",
    b147_unreadable_paths_are_named_and_stay: "b147",
    b149_names_of_other_systems_are_names: "b149",
    b152_long_paths_work: "b152",
}
