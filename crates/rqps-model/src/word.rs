//! Words that are not among the known ones.

/// A word that is not among the known ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {value:?} (known: {known})")]
pub struct UnknownWord {
    /// What kind of word it was: `dbms`, `engine`.
    pub what: &'static str,
    /// The word as given.
    pub value: String,
    /// The known words, separated by commas.
    pub known: &'static str,
}

/// How many letters of a word may differ from the one that was meant.
const MOST_SLIPS: usize = 2;

impl UnknownWord {
    /// The known word that was probably meant.
    #[must_use]
    pub fn nearest(&self) -> Option<&'static str> {
        nearest(self.known.split(", "), &self.value)
    }
}

/// The one of some words that was probably meant.
fn nearest<'a>(words: impl Iterator<Item = &'a str>, given: &str) -> Option<&'a str> {
    let distance = |word: &&str| strsim::osa_distance(word, given);
    let nearest = words.min_by_key(distance)?;
    (distance(&nearest) <= MOST_SLIPS.min(nearest.len() / 3)).then_some(nearest)
}

/// What to add to serde's message of an unknown key or word, where another was probably meant; else empty.
#[must_use]
pub fn hint_for_serde(message: &str) -> String {
    meant(message).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// The message names the given word and then all that would do, each between backquotes.
fn meant(message: &str) -> Option<&str> {
    let given = ["unknown field `", "unknown variant `"];
    let rest = given.iter().find_map(|start| message.strip_prefix(start))?;
    let (given, rest) = rest.split_once('`')?;
    nearest(rest.split('`').skip(1).step_by(2), given)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde::de::value::{Error, MapDeserializer, StrDeserializer};

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "lowercase")]
    #[expect(dead_code, reason = "only the messages are looked at")]
    struct Keys {
        label: Option<u8>,
        durability: Option<u8>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Words {
        Socket,
        Tcp,
    }

    #[test]
    fn a_key_with_a_slip_has_the_key_that_was_meant() {
        for (given, word) in [("lable", Some("label")), ("colour", None), ("t", None)] {
            let map = MapDeserializer::<_, Error>::new([(given, 1_u8)].into_iter());
            let message = Keys::deserialize(map).unwrap_err().to_string();
            assert_eq!(meant(&message), word, "{message}");
        }
        let text = StrDeserializer::<Error>::new("soket");
        let message = Words::deserialize(text).unwrap_err().to_string();
        assert_eq!(hint_for_serde(&message), "; did you mean `socket`?", "{message}");
        assert_eq!(hint_for_serde("missing field `label`"), "");
    }
}
