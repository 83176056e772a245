//! Values of options, parsed by their kind.

/// The kind of an option; the numbers are those that scripts know (`sysbench.cmdline.ARG_INT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// On or off; a name alone is on.
    Bool = 1,
    /// A whole number.
    Int = 2,
    /// Bytes, with a suffix K, M, G or T where wanted.
    Size = 3,
    /// A number.
    Double = 4,
    /// Text.
    Text = 5,
    /// Texts with commas between them.
    List = 6,
    /// The name of a file.
    File = 7,
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// None.
    Nothing,
    /// On or off.
    Bool(bool),
    /// A whole number, or bytes.
    Int(i64),
    /// A number.
    Number(f64),
    /// Text, or a file's name.
    Text(String),
    /// Texts.
    List(Vec<String>),
}

impl Kind {
    /// The kind of a number that scripts give.
    pub(crate) fn from_number(number: i64) -> Option<Self> {
        let all =
            [Self::Bool, Self::Int, Self::Size, Self::Double, Self::Text, Self::List, Self::File];
        all.into_iter().find(|kind| *kind as i64 == number)
    }

    /// How the value is shown after the option's name in help texts.
    pub(crate) fn placeholder(self) -> &'static str {
        match self {
            Self::Bool => "[=on|off]",
            Self::Int | Self::Double => "=N",
            Self::Size => "=SIZE",
            Self::Text => "=STRING",
            Self::List => "=[LIST,...]",
            Self::File => "=FILENAME",
        }
    }
}

impl Value {
    /// Parses text as a value of a kind; `None` when it is none. Without text a number is 0, a list has nothing, and a
    /// switch has no value.
    pub(crate) fn parse(kind: Kind, text: &str) -> Option<Self> {
        match kind {
            Kind::Bool => match text {
                "on" | "true" | "1" | "yes" => Some(Self::Bool(true)),
                "off" | "false" | "0" | "no" => Some(Self::Bool(false)),
                _ => None,
            },
            Kind::Int | Kind::Size if text.is_empty() => Some(Self::Int(0)),
            Kind::Double if text.is_empty() => Some(Self::Number(0.0)),
            Kind::Int => parse_int(text).map(Self::Int),
            Kind::Size => parse_size(text).map(Self::Int),
            Kind::Double => {
                text.parse().ok().filter(|value: &f64| value.is_finite()).map(Self::Number)
            }
            Kind::Text | Kind::File => Some(Self::Text(text.to_owned())),
            Kind::List => {
                let values = text.split(',').filter(|one| !one.is_empty());
                Some(Self::List(values.map(str::to_owned).collect()))
            }
        }
    }
}

/// A whole number; one written as `1e6` or `10.0` is one too.
fn parse_int(text: &str) -> Option<i64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let value: f64 = text.parse().ok()?;
    let whole = value.fract().abs() < f64::EPSILON && value.abs() < 9e15;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
    whole.then_some(value as i64)
}

fn parse_size(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)?.to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1_i64 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return None,
    };
    digits.parse::<i64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind() {
        let parse = |kind, text| Value::parse(kind, text);
        assert_eq!(parse(Kind::Bool, "off"), Some(Value::Bool(false)));
        assert_eq!(parse(Kind::Bool, "maybe"), None);
        assert_eq!(parse(Kind::Int, "-3"), Some(Value::Int(-3)));
        assert_eq!(parse(Kind::Int, "1e6"), Some(Value::Int(1_000_000)));
        assert_eq!(parse(Kind::Int, "abc"), None);
        assert_eq!(parse(Kind::Int, "1.5"), None);
        assert_eq!(parse(Kind::Size, "64K"), Some(Value::Int(65536)));
        assert_eq!(parse(Kind::Size, "1X"), None);
        assert_eq!(parse(Kind::Double, "0.2"), Some(Value::Number(0.2)));
        assert_eq!(parse(Kind::Double, "nan"), None);
        let list =
            |all: &[&str]| Some(Value::List(all.iter().map(|one| (*one).to_owned()).collect()));
        assert_eq!(parse(Kind::List, "a, b"), list(&["a", " b"]));
        assert_eq!(parse(Kind::List, ",a,,b,"), list(&["a", "b"]));
        assert_eq!(parse(Kind::List, ""), list(&[]));
        assert_eq!(parse(Kind::Int, ""), Some(Value::Int(0)));
        assert_eq!(parse(Kind::Size, ""), Some(Value::Int(0)));
        assert_eq!(parse(Kind::Double, ""), Some(Value::Number(0.0)));
        assert_eq!(parse(Kind::Text, ""), Some(Value::Text(String::new())));
        assert_eq!(parse(Kind::Bool, ""), None);
    }
}
