//! Files that end within a line.

/// What to do about it.
const REMEDY: &str = "copy the file again";

/// The last line (from 0) of a text that has no end.
pub(crate) fn unended_idx(text: &str) -> Option<usize> {
    let is_unended = !text.is_empty() && !text.ends_with('\n');
    is_unended.then(|| text.lines().count().saturating_sub(1))
}

/// The known name that a name begins; `None` where it is known itself.
pub(crate) fn whole_name<'k>(
    name: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Option<&'k str> {
    let is_known = known.clone().any(|known| known == name);
    let mut longer = known.filter(|known| known.starts_with(name));
    longer.next().filter(|_| !is_known)
}

/// What is wrong with a line whose name was cut.
pub(crate) fn cut_problem(name: &str, whole: &str) -> String {
    format!("the file ends within this line: {name} is the beginning of {whole}; {REMEDY}")
}

/// What is wrong with a line of which more than a name lacks.
pub(crate) fn unended_problem() -> String {
    format!("the file ends within this line; {REMEDY}")
}
