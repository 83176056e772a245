//! What of a plan is neither shown nor kept: the passwords of addresses.
//!
//! An address stands in `dsn` alone, which takes the password out before anything is stored or said. Anywhere
//! else it is refused, unseen, and what TOML says of a text is cut where there may be one in it.

use std::path::PathBuf;

use rqps_model::serde_in_words;
use rqps_server::Dsn;

use super::{
    ChosenFile, OptionValue, PlanFile, ProfilingFile, Refusal, ScheduleFile, SuiteFile, SystemFile,
};

/// A key and the text that was written.
type Written<'a> = (&'static str, &'a Option<String>);

/// What is wrong with a text that is no plan, without the line that TOML quotes where a password may stand in
/// it.
pub(super) fn syntax(error: &toml::de::Error) -> String {
    let text = error.to_string();
    if !may_hold_address(&text) && !text.to_ascii_lowercase().contains("passw") {
        // The message ends the text, below the line that is quoted.
        let quoted = text.trim_end().strip_suffix(error.message().trim_end());
        return match quoted {
            Some(quoted) => format!("{quoted}{}", serde_in_words(error.message().trim_end())),
            None => text.trim_end().to_owned(),
        };
    }
    let place = text.lines().next().filter(|line| line.starts_with("TOML parse error at "));
    let place = place.unwrap_or("TOML parse error");
    let message = hide_value(error.message());
    format!("{place} (not shown, as there may be a password in it)\n{message}")
}

/// A message of TOML without the value that it repeats, should that look like an address.
fn hide_value(message: &str) -> String {
    if !may_hold_address(message) {
        return message.to_owned();
    }
    // What follows the value are the words that would do.
    let start = message.find(['"', '`', '\'']).unwrap_or(0);
    let end = message.rfind(", expected").filter(|end| *end >= start).unwrap_or(message.len());
    format!("{}...{}", &message[..start], &message[end..])
}

/// Addresses without a scheme count, too: it may have been forgotten.
fn may_hold_address(text: &str) -> bool {
    Dsn::looks_like(text) || text.contains('@')
}

impl PlanFile {
    /// Whether any address in the plan holds a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        let dsns = self.system.iter().filter_map(|system| system.dsn.as_deref());
        dsns.filter_map(|dsn| Dsn::parse(dsn).ok()).any(|dsn| dsn.has_password())
    }

    /// Refuses an address outside of `dsn`: it would be stored and shown as it is.
    pub(super) fn check_addresses(&self) -> Result<(), Refusal> {
        let Self { name, base, null: _, audit, system, suite, schedule, profile } = self;
        check("", &[("name", name), ("base", base), ("audit", audit)])?;
        for (idx, system) in system.iter().enumerate() {
            system.check_addresses(&format!("system {}: ", idx + 1))?;
        }
        suite.iter().try_for_each(SuiteFile::check_addresses)?;
        let ScheduleFile {
            mode,
            slice,
            slices: _,
            budget,
            time,
            precision,
            starts: _,
            loads: _,
            placement,
            seed: _,
        } = schedule;
        let texts = [("mode", mode), ("slice", slice), ("budget", budget)];
        check("schedule.", &texts)?;
        let texts = [("time", time), ("precision", precision), ("placement", placement)];
        check("schedule.", &texts)?;
        match profile {
            Some(ProfilingFile::Chosen(ChosenFile { steps, seconds: _ })) => {
                check_each("profile.steps", steps.as_deref().unwrap_or_default())
            }
            Some(ProfilingFile::Switch(_)) | None => Ok(()),
        }
    }
}

impl SystemFile {
    fn check_addresses(&self, whose: &str) -> Result<(), Refusal> {
        let Self {
            label,
            dbms,
            version,
            build,
            basedir,
            repo,
            commit,
            source,
            recipe,
            cc,
            cflags,
            lto: _,
            patches,
            tree,
            dsn: _,
            engine,
            config,
            options,
            transport: _,
            malloc,
            durability,
            compression,
            memory,
            cpus,
            injected_slowdown: _,
            sql_after_load,
            null_arm: _,
        } = self;
        check(whose, &[("label", label), ("dbms", dbms), ("version", version), ("build", build)])?;
        check(whose, &[("engine", engine), ("config", config), ("malloc", malloc)])?;
        check(whose, &[("durability", durability), ("compression", compression)])?;
        check(whose, &[("memory", memory), ("cpus", cpus)])?;
        check(whose, &[("commit", commit), ("cc", cc), ("cflags", cflags), ("tree", tree)])?;
        let looks_like = |path: &PathBuf| Dsn::looks_like(&path.to_string_lossy());
        for (key, path) in
            [("basedir", basedir), ("repo", repo), ("source", source), ("recipe", recipe)]
        {
            if path.as_ref().is_some_and(looks_like) {
                return Err(refusal(whose, key));
            }
        }
        if patches.iter().any(looks_like) {
            return Err(refusal(whose, "patches"));
        }
        for (name, value) in options {
            let text = match value {
                OptionValue::Text(text) => text.as_str(),
                OptionValue::Integer(_) | OptionValue::Float(_) | OptionValue::Bool(_) => "",
            };
            if names_login(name) || names_login(text) {
                return Err(refusal(whose, "options"));
            }
        }
        if sql_after_load.iter().any(|sql| names_login(sql)) {
            return Err(refusal(whose, "sql_after_load"));
        }
        Ok(())
    }
}

impl SuiteFile {
    fn check_addresses(&self) -> Result<(), Refusal> {
        let Self {
            name,
            kind,
            size,
            form,
            tables: _,
            rows: _,
            rows_later: _,
            rows_per_commit: _,
            rates: _,
            shared_table: _,
            partitions: _,
            bulk_load: _,
            protocol,
            clients: _,
            steps,
            rate: _,
            seconds: _,
            reuse_tables: _,
            data,
            query_data,
            neighbour_data,
            vectors: _,
            queries: _,
            dimension: _,
            clusters: _,
            distance,
            k: _,
            m: _,
            ef_construction: _,
            ef_search: _,
            lists: _,
            probes: _,
        } = self;
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        for (key, file) in
            [("data", data), ("query_data", query_data), ("neighbour_data", neighbour_data)]
        {
            check("suite.", &[(key, &path(file))])?;
        }
        check("suite.", &[("distance", distance)])?;
        check("suite.", &[("name", name), ("kind", kind), ("size", size), ("form", form)])?;
        check("suite.", &[("protocol", protocol)])?;
        check_each("suite.steps", steps.as_deref().unwrap_or_default())
    }
}

/// Refuses the first key whose text has an address in it; `whose` stands before its name.
fn check(whose: &str, texts: &[Written<'_>]) -> Result<(), Refusal> {
    for (key, text) in texts {
        if text.as_deref().is_some_and(Dsn::looks_like) {
            return Err(refusal(whose, key));
        }
    }
    Ok(())
}

fn check_each(key: &str, texts: &[String]) -> Result<(), Refusal> {
    if texts.iter().any(|text| Dsn::looks_like(text)) {
        return Err(refusal("", key));
    }
    Ok(())
}

fn refusal(whose: &str, key: &str) -> Refusal {
    let what = format!(
        "{whose}{key} has an address in it (://), not shown because it may contain a password"
    );
    let remedy = "write addresses as `dsn` of a [[system]]; other keys are stored as written";
    (what, remedy.to_owned())
}

/// Whether there is an address with a login in a text, or one of those that `dsn` takes. Options of servers
/// and statements may have others (`gcomm://`).
fn names_login(text: &str) -> bool {
    text.match_indices("://").any(|(at, _)| {
        let schemes = ["mysql", "mariadb", "postgres", "postgresql"];
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
        let rest = text[at..].split(is_end).next().unwrap_or_default();
        rest.contains('@') || schemes.iter().any(|scheme| text[..at].ends_with(scheme))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why a plan is refused.
    fn refused(text: &str) -> String {
        match PlanFile::parse(text, "test") {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => format!("{error} {error:?}"),
        }
    }

    #[test]
    fn what_is_mistyped_is_not_quoted_with_its_password() {
        for (line, words) in [
            ("dsn = \"mysql://u:sEcReT1@h/d\" bogus", "line 3"),
            ("dsn = \"mysql://u:sEcReT1@h/d", "line 3"),
            ("dsn = \"mysql://u:sEc ReT1 sEcReT1@h/d", "line 3"),
            ("dsn = { x = \"mysql://u:sEcReT1@h/d\" }", "line 3"),
            ("dsm = \"mysql://u:sEcReT1@h/d\"", "unknown field `dsm`"),
            ("password = \"sEcReT1\"", "unknown field `password`"),
            ("dsn = \"u:sEcReT1@h\" bogus", "line 3"),
            ("dsn = \"\"\"mysql://u:\nsEcReT1@h\"\"\" bogus", "line 4"),
            (
                "transport = \"mysql://u:sEcReT1@h/d\"",
                "unknown variant ..., expected one of `socket`",
            ),
            ("\"mysql://u:sEcReT1@h/d\" = 1", "unknown field ..., expected"),
            ("injected_slowdown = \"mysql://u:sEcReT1@h/d\"", "invalid type: string ..., expected"),
        ] {
            let text = refused(&format!("name = 'x'\n[[system]]\n{line}\n"));
            assert!(!text.contains("sEcReT1"), "{line}: {text}");
            assert!(text.contains(words), "{line}: {text}");
        }
        // Anything else is quoted as ever.
        let text = refused("name = 'x'\n[[system]]\ncolour = 'red'\n");
        assert!(text.contains("3 | colour = 'red'"), "{text}");
    }

    #[test]
    fn an_address_elsewhere_is_refused_unseen() {
        let address = "\"mysql://u:sEcReT1@h/d\"";
        for key in [
            "label",
            "dbms",
            "version",
            "build",
            "basedir",
            "engine",
            "config",
            "malloc",
            "durability",
            "compression",
            "memory",
            "cpus",
        ] {
            let text = refused(&format!("[[system]]\n{key} = {address}\n"));
            assert!(!text.contains("sEcReT1"), "{text}");
            assert!(text.contains(&format!("system 1: {key} has an address in it")), "{text}");
        }
        for (plan, place) in [
            ("name = ADDRESS", "name has"),
            ("base = ADDRESS", "base has"),
            ("audit = ADDRESS", "audit has"),
            ("[[suite]]\nkind = ADDRESS", "suite.kind has"),
            ("[[suite]]\nsteps = ['x', ADDRESS]", "suite.steps has"),
            ("[schedule]\nplacement = ADDRESS", "schedule.placement has"),
            ("[profile]\nsteps = [ADDRESS]", "profile.steps has"),
            ("[[system]]\noptions = { a = ADDRESS }", "system 1: options has"),
            ("[[system]]\noptions = { ADDRESS = 1 }", "system 1: options has"),
            ("[[system]]\nsql_after_load = [ADDRESS]", "system 1: sql_after_load has"),
        ] {
            let text = refused(&plan.replace("ADDRESS", address));
            assert!(text.contains(place) && !text.contains("sEcReT1"), "{text}");
        }
        // What comes from a command line is no text of TOML's.
        let file = PlanFile { base: Some("mysql://u:sEcReT1@h".to_owned()), ..PlanFile::default() };
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let error = file.resolve("command line", &catalogue).unwrap_err().to_string();
        assert!(error.contains("base has an address") && !error.contains("sEcReT1"), "{error}");
    }

    #[test]
    fn options_and_statements_may_have_other_addresses() {
        for text in ["gcomm://", "gcomm://10.0.0.1,10.0.0.2", "SELECT 'http://x.org/' AS a, 'u@h'"]
        {
            assert!(!names_login(text), "{text}");
        }
        for text in ["CONNECTION='mysql://u:a b@h/d'", "http://u:p@h/", "a://b c://u@d"] {
            assert!(names_login(text), "{text}");
        }
    }
}
