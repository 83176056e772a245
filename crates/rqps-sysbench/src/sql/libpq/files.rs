//! Files of libpq: passwords (`.pgpass`) and services (`pg_service.conf`).

use rqps_client::conninfo::Pair;

/// Whom a password is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Login<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// The password of the first line of a password file that is for this login.
pub(super) fn password(file: &str, login: Login<'_>) -> Option<String> {
    let port = login.port.to_string();
    let wanted = [login.host, &port, login.database, login.user];
    file.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = split_fields(line).into_iter();
        let fits = wanted.iter().all(|wanted| {
            fields.next().is_some_and(|field| field == "*" || unescaped(field) == *wanted)
        });
        let password = fields.next().filter(|password| fits && !password.is_empty())?;
        Some(unescaped(password))
    })
}

/// The fields of a line: colons separate them, a backslash takes the next character as it is.
fn split_fields(line: &str) -> Vec<&str> {
    let mut fields = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => {
                fields.push(line.get(start..at).unwrap_or(""));
                start = at + 1;
            }
            _ => {}
        }
    }
    fields.push(line.get(start..).unwrap_or(""));
    fields
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// The parameters of a service; `None` when the file does not have it, a line when it cannot be read.
pub(super) fn service(file: &str, name: &str) -> Result<Option<Vec<Pair>>, String> {
    let mut found: Option<Vec<Pair>> = None;
    let mut is_inside = false;
    for line in file.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if found.is_some() {
                break;
            }
            is_inside = section == name;
            if is_inside {
                found = Some(Vec::new());
            }
        } else if is_inside && let Some(pairs) = &mut found {
            let (key, value) = line.split_once('=').ok_or_else(|| line.to_owned())?;
            pairs.push(Pair::new(key, value));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_login_has_its_password() {
        let file =
            "# h:1:d:u:no\nh:2:d:u:two\n*:1:*:u:a\\:b\\\\c\nh:1:d:u:late\nx\\:y:*:*:*:colon\n";
        let of = |host, port| password(file, Login { host, port, database: "d", user: "u" });
        assert_eq!(of("h", 2).as_deref(), Some("two"));
        assert_eq!(of("h", 1).as_deref(), Some("a:b\\c"));
        assert_eq!(of("x:y", 9).as_deref(), Some("colon"));
        assert_eq!(of("h", 3), None);
    }

    #[test]
    fn services_have_their_own_parameters() {
        let file = "# x\n[other]\nhost=no\n\n[mine]\nhost=h\noptions=-c a=b\n[mine]\nport=9\n";
        let mine = service(file, "mine").unwrap().unwrap();
        assert_eq!(mine, [Pair::new("host", "h"), Pair::new("options", "-c a=b")]);
        assert_eq!(service(file, "nosuch").unwrap(), None);
        assert_eq!(service("[mine]\nhost\n", "mine").unwrap_err(), "host");
    }
}
