//! What perf script writes, with all that is awkward in it.

use expect_test::expect;
use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<Script, ScriptError> {
    let mut reader = ScriptReader::default();
    text.lines().try_for_each(|line| reader.line(line))?;
    Ok(reader.end())
}

/// Two threads: spaces, operators, templates, no symbols, a replaced program, inlined and kernel frames.
const TEXT: &str = "\
   4711    1001001 \n\
\t    ffffffffa8d0b4a8 finish_task_switch.isra.0 ([kernel.kallsyms])\n\
\t    ffffffffa8d0b4a9 [unknown] ([kernel.kallsyms])\n\
\t    7f1c20aa10 __GI___libc_recv (/usr/lib/x86_64-linux-gnu/libc.so.6)\n\
\t    55d0c3a1f0 vio_read (/opt/my sql/bin/mysqld (deleted))\n\
\t    55d0c3a1f4 _ZN3THD3runEv (/opt/my sql/bin/mysqld (deleted))\n\
\t    7f1c20ab00 [unknown] (/usr/lib/x86_64-linux-gnu/libc.so.6)\n\
\n\
   4712    1001001 \n\
\t    55d0c3a200 operator new(unsigned long) (/opt/mysql/bin/mysqld)\n\
\t    55d0c3a210 std::vector<int, std::allocator<int> >::push_back(int const&) (inlined)\n\
\t    55d0c3a220 bool operator< <int>(A<int> const&) (/opt/mysql/bin/mysqld)\n\
\t    55d0c3a230 [unknown] (/opt/mysql/bin/mysqld)\n\
\t    0 [unknown] ([unknown])\n\
\n\
   4712/4713    1001001: \n\
\t    ffffffffa8d0b4a8 do_exit ([kernel.kallsyms])\n\
\n\
   4712    1001001 \n\
\n";

#[test]
fn awkward_symbols_become_folded_stacks() {
    let script = parse(TEXT).unwrap();
    expect![[r#"
        [cut off];[unknown];[mysqld];operator< <…>;std::vector<…>::push_back;operator new 1
        [libc.so.6];THD::run;vio_read;__GI___libc_recv;[kernel]_[k];finish_task_switch_[k] 1
        [unknown] 1
        do_exit_[k] 1
    "#]]
    .assert_eq(&script.stacks.to_string());
    assert_eq!((script.n_samples, script.period_ns, script.n_threads), (4, 4_004_004, 3));
    assert_eq!((script.n_user, script.n_complete), (2, 1));
    assert_eq!((script.n_frames, script.n_unknown), (9, 3));
    assert_eq!(script.complete_share(), Some(0.5));
}

#[test]
fn nothing_recorded_is_nothing() {
    let script = parse("# a heading\n").unwrap();
    assert_eq!(script, Script::default());
    assert_eq!((script.complete_share(), script.unknown_share()), (None, None));
}

#[test]
fn what_is_no_script_names_its_line() {
    for (text, line_number, problem) in [
        ("\t55 main (/bin/x)\n", 1, "a frame outside a sample"),
        ("  1  5 \n\tzz main (/bin/x)\n", 2, "no address"),
        ("mysqld 1 5\n", 1, "no thread and time of a sample"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!((error.line_number, error.problem), (line_number, problem));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(.{0,80}\n){0,8}") {
        let _ = parse(&text);
    }

    /// Whatever a symbol holds, a sample stays a sample.
    #[test]
    fn any_symbol_is_one_frame(symbol in "[^\n\r\t]{1,60}") {
        let text = format!("  1  5 \n\t  55 {symbol} (/bin/x)\n\t 56 main (/bin/x)\n\n");
        let script = parse(&text).unwrap();
        prop_assert_eq!((script.n_samples, script.period_ns, script.n_frames), (1, 5, 2));
        prop_assert_eq!(Stacks::parse(&script.stacks.to_string()).unwrap(), script.stacks);
    }
}
