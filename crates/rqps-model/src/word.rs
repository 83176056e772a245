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
    /// What to do: write the known word that was probably meant, else any.
    #[must_use]
    pub fn remedy(&self) -> String {
        match nearest(self.known.split(", "), &self.value) {
            Some(word) => format!("did you mean {word:?}?"),
            None => "write one of them".to_owned(),
        }
    }
}

/// The one of some words that was probably meant.
#[must_use]
pub fn nearest<'a>(words: impl Iterator<Item = &'a str>, given: &str) -> Option<&'a str> {
    let distance = |word: &&str| strsim::osa_distance(word, given);
    let nearest = words.min_by_key(distance)?;
    // Letters in another order are one slip, however short the word is.
    let is_anagram = distance(&nearest) <= MOST_SLIPS && letters(nearest) == letters(given);
    let is_near = is_anagram || distance(&nearest) <= MOST_SLIPS.min(nearest.len() / 3);
    is_near.then_some(nearest)
}

/// The letters of a word in the order of the alphabet.
fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// A message of serde in words of users: types by what is written, and a known key or word that was probably meant.
#[must_use]
pub fn serde_in_words(message: &str) -> String {
    let hint = meant(message).map_or_else(String::new, |word| format!("; did you mean `{word}`?"));
    let typed = message.rsplit_once("expected ").and_then(|(before, name)| {
        let (_, words) = TYPES.iter().find(|(known, _)| *known == name)?;
        Some(format!("{before}expected {words}"))
    });
    typed.unwrap_or_else(|| message.to_owned()) + &hint
}

/// Types as serde calls them, and what is written for them.
const TYPES: [(&str, &str); 9] = [
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number, 0 or more"),
    ("usize", "a whole number, 0 or more"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a string", "a text in quotes"),
    ("a sequence", "a list in brackets"),
    ("a map", "a table"),
];

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
        assert_eq!(serde_in_words(&message), format!("{message}; did you mean `socket`?"));
        assert_eq!(serde_in_words("missing field `label`"), "missing field `label`");
    }

    #[test]
    fn types_are_said_as_they_are_written() {
        let said = serde_in_words("invalid value: integer `-1`, expected u32");
        let words = "invalid value: integer `-1`, expected a whole number from 0 to 4294967295";
        assert_eq!(said, words);
        let said = serde_in_words("invalid type: string \"many\", expected u64");
        assert_eq!(said, "invalid type: string \"many\", expected a whole number, 0 or more");
        // What says itself what is expected.
        let said = "invalid type: integer `1`, expected a table [[suite]]";
        assert_eq!(serde_in_words(said), said);
    }

    #[test]
    fn exchanged_letters_are_one_slip() {
        let of = |given| nearest(["tiny", "small", "full"].into_iter(), given);
        assert_eq!(
            [of("tyni"), of("smal"), of("fulll")],
            [Some("tiny"), Some("small"), Some("full")]
        );
        assert_eq!([of("huge"), of("tall"), of("")], [None; 3]);
    }
}
