//! Names of functions that can be read and compared: demangled, without parameters, templates cut.
//!
//! Versions of a server differ in parameters, template arguments and in what their compiler cloned. A
//! function is the same here when its qualified name is.

use cpp_demangle::{DemangleOptions, Symbol};

/// Longest name, characters: the rest tells nobody anything.
const LONGEST: usize = 160;

/// What compilers write behind the names of functions that they cloned or cut in parts.
const CLONES: [&str; 8] =
    [".isra.", ".part.", ".constprop.", ".cold", ".lto_priv.", ".llvm.", ".localalias", ".clone."];

/// Operators that begin with a character which would open a list otherwise, longest first.
const OPERATORS: [&str; 13] =
    ["<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"];

/// The shown name of a symbol, mangled or not.
///
/// Gives at least one character for any text.
#[must_use]
pub fn readable(symbol: &str) -> String {
    let symbol = without_version(without_clone(symbol.trim()));
    let text = demangled(symbol).map_or_else(|| shortened(symbol), |text| shortened(&text));
    let text = text.trim();
    if text.is_empty() {
        return "[unknown]".to_owned();
    }
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(LONGEST - 1).collect();
    cut.push('…');
    cut
}

fn demangled(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    Symbol::new(symbol).ok()?.demangle_with_options(&options).ok()
}

/// `f.isra.0` and `f [clone .isra.0]` are `f`.
fn without_clone(symbol: &str) -> &str {
    let symbol = symbol.split(" [clone ").next().unwrap_or(symbol);
    let first = CLONES.iter().filter_map(|mark| symbol.find(mark)).filter(|at| *at > 0).min();
    first.map_or(symbol, |at| &symbol[..at])
}

/// `memcpy@@GLIBC_2.14` is `memcpy`; `send@plt` stays.
fn without_version(symbol: &str) -> &str {
    match symbol.find('@') {
        Some(at) if at > 0 && !symbol.ends_with("@plt") => &symbol[..at],
        _ => symbol,
    }
}

/// A C++ name without parameters, return type and template arguments; any other as it is.
fn shortened(name: &str) -> String {
    if !name.contains("::") && !name.contains(['<', '(']) {
        return name.to_owned();
    }
    let mut out = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if is_operator(&out, rest) {
            let (word, behind) = rest.split_at("operator".len());
            out.push_str(word);
            rest = behind;
            if let Some(sign) = OPERATORS.iter().find(|sign| rest.starts_with(**sign)) {
                out.push_str(sign);
                rest = &rest[sign.len()..];
            }
            continue;
        }
        let anonymous = "(anonymous namespace)";
        if rest.starts_with(anonymous) {
            out.push_str(anonymous);
            rest = &rest[anonymous.len()..];
            continue;
        }
        let close = match c {
            '<' => closing(rest, '<', '>'),
            '(' => closing(rest, '(', ')'),
            _ => None,
        };
        let Some(end) = close else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        if c == '<' {
            out.push_str("<…>");
        }
        rest = &rest[end..];
    }
    without_return_type(without_qualifiers(&out)).to_owned()
}

/// Whether `rest` begins with the word `operator`, of which more than the word itself is to come.
fn is_operator(before: &str, rest: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let Some(behind) = rest.strip_prefix("operator") else { return false };
    !before.ends_with(is_part) && !behind.starts_with(is_part)
}

/// Where the list ends that `text` begins with; `None` when nothing closes it.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && !(c == '>' && before == '-') {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at + c.len_utf8());
            }
        }
        before = c;
    }
    None
}

/// Without what stands behind the parameters of member functions.
fn without_qualifiers(name: &str) -> &str {
    let mut name = name.trim_end();
    while let Some(shorter) =
        [" const", " volatile", " &", " &&", " noexcept"].iter().find_map(|q| name.strip_suffix(q))
    {
        name = shorter.trim_end();
    }
    name
}

/// Without the type before the name. Operators may hold spaces themselves.
fn without_return_type(name: &str) -> &str {
    let head = name.find("operator ").or_else(|| name.find("operator")).unwrap_or(name.len());
    let mut depth = 0_usize;
    let mut begin = 0;
    for (at, c) in name[..head].char_indices() {
        match c {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' | '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => begin = at + 1,
            _ => {}
        }
    }
    let short = name[begin..].trim_start_matches(['*', '&']);
    if short.is_empty() { name } else { short }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn awkward_names() {
        let names = [
            "main",
            "dispatch_command",
            "_Z16dispatch_command19enum_server_commandP3THDPcj",
            "_ZN4Item8val_boolEv.part.3",
            "_ZN12_GLOBAL__N_14scanEv",
            "_ZNSt6vectorIiSaIiEE9push_backERKi",
            "_ZNSt8functionIFvvEEclEv",
            "_ZlsRSoRK6String",
            "_Znwm",
            "_Z3fooILi3EEvT_",
            "std::vector<int, std::allocator<int> >::push_back(int const&)",
            "void foo<3>(int) [clone .isra.0]",
            "bool operator< <int>(A<int> const&, A<int> const&)",
            "A::operator->() const",
            "operator new(unsigned long)",
            "A::operator unsigned int() const",
            "std::function<void (int)>::operator()(int) const",
            "(anonymous namespace)::Cache::find(std::string const&) const",
            "run(int)::{lambda(int, char)#1}::operator()(int, char) const",
            "unsigned long* ns::f<A<B>, (C)1>(int)",
            "non-virtual thunk to ha_innobase::index_read(unsigned char*)",
            "finish_task_switch.isra.0",
            "memcpy@@GLIBC_2.14",
            "send@plt",
            "broken<name",
            "odd)name::x",
            "_Znot a mangled name",
            "operator",
            "my_operator_x::f",
            "",
        ];
        let shown: Vec<String> = names.iter().map(|n| format!("{n} => {}", readable(n))).collect();
        expect![[r#"
            main => main
            dispatch_command => dispatch_command
            _Z16dispatch_command19enum_server_commandP3THDPcj => dispatch_command
            _ZN4Item8val_boolEv.part.3 => Item::val_bool
            _ZN12_GLOBAL__N_14scanEv => (anonymous namespace)::scan
            _ZNSt6vectorIiSaIiEE9push_backERKi => std::vector<…>::push_back
            _ZNSt8functionIFvvEEclEv => std::function<…>::operator()
            _ZlsRSoRK6String => operator<<
            _Znwm => operator new
            _Z3fooILi3EEvT_ => foo<…>
            std::vector<int, std::allocator<int> >::push_back(int const&) => std::vector<…>::push_back
            void foo<3>(int) [clone .isra.0] => foo<…>
            bool operator< <int>(A<int> const&, A<int> const&) => operator< <…>
            A::operator->() const => A::operator->
            operator new(unsigned long) => operator new
            A::operator unsigned int() const => A::operator unsigned int
            std::function<void (int)>::operator()(int) const => std::function<…>::operator()
            (anonymous namespace)::Cache::find(std::string const&) const => (anonymous namespace)::Cache::find
            run(int)::{lambda(int, char)#1}::operator()(int, char) const => run::{lambda#1}::operator()
            unsigned long* ns::f<A<B>, (C)1>(int) => ns::f<…>
            non-virtual thunk to ha_innobase::index_read(unsigned char*) => ha_innobase::index_read
            finish_task_switch.isra.0 => finish_task_switch
            memcpy@@GLIBC_2.14 => memcpy
            send@plt => send@plt
            broken<name => broken<name
            odd)name::x => odd)name::x
            _Znot a mangled name => _Znot a mangled name
            operator => operator
            my_operator_x::f => my_operator_x::f
             => [unknown]"#]].assert_eq(&shown.join("\n"));
    }

    #[test]
    fn a_long_name_is_cut() {
        let long = readable(&"x".repeat(1000));
        assert_eq!(long.chars().count(), LONGEST);
        assert!(long.ends_with('…'));
    }

    proptest! {
        #[test]
        fn any_text_gives_a_name(text in ".{0,80}") {
            prop_assert!(!readable(&text).is_empty());
        }

        #[test]
        fn any_mangled_looking_text_gives_a_name(text in "_Z[A-Za-z0-9_.<>() ]{0,60}") {
            prop_assert!(!readable(&text).is_empty());
        }

        #[test]
        fn any_arrangement_of_signs_gives_a_name(text in "(operator|[<>():*& -]|a|::|const|\\{lambda){0,30}") {
            prop_assert!(!readable(&text).is_empty());
        }
    }
}
