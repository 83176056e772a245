//! What a label of the field says of its system: `x.my5651_rel_o2nofp.z12a_c8r32.pk1` is MySQL 5.6.51 with
//! build and configuration `rel_o2nofp.z12a_c8r32.pk1`.

use rqps_model::{Dbms, Version};

/// A label taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelParts {
    /// The server's family.
    pub dbms: Dbms,
    /// Its version; absent where the label has no digits that can be one.
    pub version: Option<Version>,
    /// What stands behind the version: build and configuration.
    pub config: String,
}

/// The letters that begin labels, longer ones first: `fbmy` is MySQL by Meta, `ps` by Percona.
const LETTERS: [(&str, Dbms); 5] = [
    ("fbmy", Dbms::Mysql),
    ("my", Dbms::Mysql),
    ("ma", Dbms::Mariadb),
    ("pg", Dbms::Postgres),
    ("ps", Dbms::Mysql),
];

/// The names that begin labels, longer ones first: `MariaDB 11.4.5`, `postgresql-17`.
const NAMES: [(&str, Dbms); 5] = [
    ("postgresql", Dbms::Postgres),
    ("postgres", Dbms::Postgres),
    ("percona", Dbms::Mysql),
    ("mariadb", Dbms::Mariadb),
    ("mysql", Dbms::Mysql),
];

impl LabelParts {
    /// Takes a label apart that begins with a name of a DBMS.
    fn of_name(plain: &str) -> Option<Self> {
        let lower = plain.to_ascii_lowercase();
        let (name, dbms) = NAMES.into_iter().find(|(name, _)| lower.starts_with(name))?;
        let rest = plain[name.len()..].trim_start_matches(['-', '_', ' ', '@', '.']);
        let (digits, behind) = split_version(dbms, rest);
        let version = version(dbms, digits);
        let behind = behind.trim_start_matches(['_', '.', '-', ' ']);
        let config = if version.is_some() && name != "percona" { behind } else { plain };
        Some(Self { dbms, version, config: config.to_owned() })
    }

    /// Takes `label` apart. Where its letters are not known, `fallback` says the DBMS and all of the label
    /// is its configuration.
    #[must_use]
    pub fn of(label: &str, fallback: Option<Dbms>) -> Option<Self> {
        let plain = label.strip_prefix("x.").unwrap_or_else(|| without_rows(label));
        let known = LETTERS.iter().find_map(|(letters, dbms)| {
            let rest = plain.strip_prefix(letters)?;
            rest.starts_with(|c: char| c.is_ascii_digit()).then_some((*letters, *dbms, rest))
        });
        let Some((letters, dbms, rest)) = known else {
            if let Some(parts) = Self::of_name(plain) {
                return Some(parts);
            }
            return Some(Self { dbms: fallback?, version: None, config: plain.to_owned() });
        };
        let (digits, behind) = split_version(dbms, rest);
        let (stage, behind) = match split_stage(dbms, behind) {
            (stage, _) if stage.is_empty() => split_apart_stage(dbms, behind),
            found => found,
        };
        let behind = behind.trim_start_matches(['_', '.']);
        // Meta's and Percona's servers are not those of Oracle, whose letters they share.
        let config = if letters.len() == 2 && letters != "ps" {
            behind.to_owned()
        } else if behind.is_empty() {
            letters.to_owned()
        } else {
            format!("{letters}.{behind}")
        };
        let version = version(dbms, digits).map(|version| Version { pre: stage, ..version });
        Some(Self { dbms, version, config })
    }
}

/// A label without the rows in millions that the Insert Benchmark's scripts put before it: `500m.my8406`.
fn without_rows(label: &str) -> &str {
    let behind = label.trim_start_matches(|c: char| c.is_ascii_digit());
    match behind.strip_prefix("m.") {
        Some(rest) if behind.len() < label.len() => rest,
        _ => label,
    }
}

/// The stage of a pre-release behind the digits of a version, and the rest: `beta1` of `beta1_rel.z12a`.
/// PostgreSQL's betas are `b1`, too.
fn split_stage(dbms: Dbms, text: &str) -> (String, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (word, behind) = text.split_at(end);
    let (name, number) = word.split_at(word.find(|c: char| c.is_ascii_digit()).unwrap_or(end));
    let is_number = number.chars().all(|c| c.is_ascii_digit());
    match name {
        "alpha" | "beta" | "devel" | "rc" if is_number => (word.to_owned(), behind),
        "b" if is_number && !number.is_empty() && dbms == Dbms::Postgres => {
            (format!("beta{number}"), behind)
        }
        _ => (String::new(), text),
    }
}

/// The same of a stage that stands apart: `_beta1_a`. Its number tells it from a build's name.
fn split_apart_stage(dbms: Dbms, text: &str) -> (String, &str) {
    let apart = text.strip_prefix(['_', '.', '-']).unwrap_or_default();
    match split_stage(dbms, apart) {
        (stage, behind)
            if stage.ends_with(|c: char| c.is_ascii_digit()) && apart.starts_with(&stage) =>
        {
            (stage, behind)
        }
        _ => (String::new(), text),
    }
}

/// The digits of a version, with points as in `8.0.33` or without as in `8033`, and what stands behind it.
fn split_version(dbms: Dbms, text: &str) -> (&str, &str) {
    let split = |is_own: fn(char) -> bool| {
        text.split_at(text.find(|c: char| !is_own(c)).unwrap_or(text.len()))
    };
    let plain = split(|c| c.is_ascii_digit());
    // A first number with the digits of a whole version has no more of it behind a point: `pg174.1`. What has
    // neither is not known: `pg96.24`.
    let is_first = match dbms {
        Dbms::Mysql => plain.0.len() == 1,
        _ => plain.0.len() <= 2,
    };
    let (digits, behind) = split(|c| c.is_ascii_digit() || c == '.');
    let digits_alone = digits.trim_end_matches('.');
    if is_first && digits_alone.contains('.') {
        let behind = &text[text.len() - behind.len() - (digits.len() - digits_alone.len())..];
        return (digits_alone, behind);
    }
    plain
}

/// The numbers of a version with points, as many as the DBMS has.
fn dotted(dbms: Dbms, text: &str) -> Option<Vec<u32>> {
    let numbers: Vec<u32> = text.split('.').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let is_one = match (dbms, numbers.as_slice()) {
        (Dbms::Mysql, [major, minor] | [major, minor, _]) => is_mysql(*major, *minor),
        (Dbms::Mariadb, [5 | 10..=20, _] | [5 | 10..=20, _, _]) => true,
        (Dbms::Postgres, [9, 0..=6] | [9, 0..=6, _]) => true,
        (Dbms::Postgres, [10..=40, _]) => true,
        _ => false,
    };
    is_one.then_some(numbers)
}

/// Whether there is such a series of MySQL.
fn is_mysql(major: u32, minor: u32) -> bool {
    matches!((major, minor), (5, 0 | 1 | 5..=7) | (8, 0..=4) | (9, 0..=7) | (10..=12, _))
}

/// `5651` is 5.6.51 and `8043` 8.0.43 of MySQL; `110401` is 11.4.1 of MariaDB; `174` is 17.4 and `9624` 9.6.24
/// of PostgreSQL. `18` is 18: it has pre-releases.
fn version(dbms: Dbms, digits: &str) -> Option<Version> {
    let cut = |places: &[usize]| -> Option<Version> {
        let mut numbers = Vec::new();
        let mut rest = digits;
        for &n in places {
            let (number, behind) = rest.split_at_checked(n)?;
            numbers.push(number.parse().ok()?);
            rest = behind;
        }
        if !rest.is_empty() {
            numbers.push(rest.parse().ok()?);
        }
        Some(Version::release(&numbers))
    };
    if digits.contains('.') {
        return dotted(dbms, digits).map(|numbers| Version::release(&numbers));
    }
    let begins = |range: std::ops::RangeInclusive<u32>| {
        digits.get(..2).and_then(|two| two.parse().ok()).is_some_and(|two| range.contains(&two))
    };
    let is_series = || {
        let two: Option<u32> = digits.get(..2).and_then(|two| two.parse().ok());
        two.is_some_and(|two| is_mysql(two / 10, two % 10))
    };
    match (dbms, digits.len()) {
        (Dbms::Mysql, 3..=4) if is_series() => cut(&[1, 1]),
        (Dbms::Mariadb, 6) if begins(10..=20) => cut(&[2, 2, 2]),
        (Dbms::Postgres, 2) if begins(90..=96) => cut(&[1]),
        (Dbms::Postgres, 3..=4) if begins(90..=96) => cut(&[1, 1]),
        (Dbms::Postgres, 2..=4) if begins(10..=40) => cut(&[2]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(label: &str) -> String {
        LabelParts::of(label, None).map_or("unknown".to_owned(), |parts| {
            let version = parts.version.map_or("no version".to_owned(), |v| v.to_string());
            format!("{} {version}, {}", parts.dbms, parts.config)
        })
    }

    #[test]
    fn labels_of_the_field() {
        let labels = [
            "x.my5651_rel_o2nofp.z12a_c8r32.pk1",
            "my8043_rel.cz12a",
            "my9400_rel.z12a",
            "ma110401_rel.cz11b",
            "ma100502",
            "pg174.x10a",
            "pg1310.x10a",
            "pg9624.x5",
            "fbmy8032.cza1",
            "x.pg18beta1_o2nofp.x10b",
            "pg19b1_o2nofp.cx10b",
            "pg18rc1",
            "pg19.bc",
            "pg96.b1",
            "my8406v2_rel.z12a",
            "my8011rc_rel.z12a",
            "mythical.z",
            "my56.z",
            "500m.pg174.x10a",
            "m.pg174",
            "x.pg18_beta1_a",
            "pg19.rc2.x10a",
            "my8043_rc.z12a",
            "pg174.b1",
        ];
        expect_test::expect![[r#"
            mysql 5.6.51, rel_o2nofp.z12a_c8r32.pk1
            mysql 8.0.43, rel.cz12a
            mysql 9.4.0, rel.z12a
            mariadb 11.4.1, rel.cz11b
            mariadb 10.5.2, 
            postgres 17.4, x10a
            postgres 13.10, x10a
            postgres 9.6.24, x5
            mysql 8.0.32, fbmy.cza1
            postgres 18beta1, o2nofp.x10b
            postgres 19beta1, o2nofp.cx10b
            postgres 18rc1, 
            postgres 19, bc
            postgres 9.6, b1
            mysql 8.4.6, v2_rel.z12a
            mysql 8.0.11rc, rel.z12a
            unknown
            mysql no version, z
            postgres 17.4, x10a
            unknown
            postgres 18beta1, a
            postgres 19rc2, x10a
            mysql 8.0.43, rc.z12a
            postgres 17.4, b1"#]]
        .assert_eq(&labels.map(told).join("\n"));
    }

    #[test]
    fn versions_with_points_and_of_no_known_series() {
        let labels = [
            "pg17.4",
            "my8.0.33",
            "ma10.11.5",
            "pg9.6.24",
            "pg16.2_def",
            "x.pg17.4.x10a",
            "my8.4.x1",
            "ma11.4.5_rel.z12b",
            "pg18.0beta1.x10b",
            "pg174.1",
            "my8033.2",
            "ps8.0.36",
            "my974",
            "my999",
            "my7033",
            "pg999",
            "pg77",
            "pg17.4.1",
            "ma99.1.1",
            "ma991101",
            "pg96.24",
            "my8.99.1",
            "my8.0.99999999999",
        ];
        expect_test::expect![[r#"
            postgres 17.4, 
            mysql 8.0.33, 
            mariadb 10.11.5, 
            postgres 9.6.24, 
            postgres 16.2, def
            postgres 17.4, x10a
            mysql 8.4, x1
            mariadb 11.4.5, rel.z12b
            postgres 18.0beta1, x10b
            postgres 17.4, 1
            mysql 8.0.33, 2
            mysql 8.0.36, ps
            mysql 9.7.4, 
            mysql no version, 
            mysql no version, 
            postgres no version, 
            postgres no version, 
            postgres no version, 
            mariadb no version, 
            mariadb no version, 
            postgres no version, 
            mysql no version, 
            mysql no version, "#]]
        .assert_eq(&labels.map(told).join("\n"));
    }

    #[test]
    fn the_user_says_what_a_label_does_not() {
        let parts = LabelParts::of("night.build", Some(Dbms::Postgres)).unwrap();
        assert_eq!((parts.dbms, parts.version), (Dbms::Postgres, None));
        assert_eq!(parts.config, "night.build");
    }
}
