//! Which plans can copy their tables from an earlier run.

use rqps_model::SystemSource;

use super::{Plan, Refusal, SuiteWork};

const KEY: &str = "reuse_tables = true";

/// Refuses plans whose tables cannot be those of an earlier run.
pub(super) fn check(plan: &Plan) -> Result<(), Refusal> {
    if !plan.reuses_tables() {
        return Ok(());
    }
    let refuse = |what: String| Err((what, "leave reuse_tables out".to_owned()));
    if plan.suites.iter().any(|suite| matches!(suite.work, SuiteWork::Insert(_))) {
        return refuse(format!("{KEY}: the Insert Benchmark measures how its tables are filled"));
    }
    if plan.suites.len() > 1 {
        return refuse(format!("{KEY}: the plan has {} suites", plan.suites.len()));
    }
    if plan.loads > 1 {
        return refuse(format!("{KEY}: loads = {} asks for new data each time", plan.loads));
    }
    let is_external = |source: &SystemSource| matches!(source, SystemSource::External { .. });
    match plan.systems.iter().find(|system| is_external(&system.source)) {
        Some(system) => refuse(format!("{KEY}: rqps has no files of {}", system.label)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::PlanFile;

    fn resolved(system: &str, suite: &str, schedule: &str) -> Result<bool, String> {
        let text = format!(
            "[[system]]\n{system}\n[[suite]]\nreuse_tables = true\n{suite}\n[schedule]\n{schedule}\n"
        );
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let plan = PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue);
        let plan = plan.map_err(|error| error.to_string())?;
        assert!(plan.to_toml().contains("reuse_tables = true"));
        Ok(plan.reuses_tables())
    }

    #[test]
    fn tables_that_are_new_each_time_or_are_not_ours_are_refused() {
        let null = "dbms = 'null'";
        assert_eq!(resolved(null, "", "starts = 2"), Ok(true));
        let guest = "dsn = 'mysql://u@h/d'";
        for (system, suite, schedule, words) in [
            (null, "kind = 'insert'", "", "measures how its tables are filled"),
            (null, "name = 'a'\n[[suite]]", "", "the plan has 2 suites"),
            (null, "", "loads = 2", "asks for new data each time"),
            (guest, "", "", "rqps has no files of"),
        ] {
            let error = resolved(system, suite, schedule).unwrap_err();
            let remedy = "leave reuse_tables out";
            assert!(error.contains(words) && error.ends_with(remedy), "{error}");
        }
    }
}
