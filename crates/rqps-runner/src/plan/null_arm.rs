//! The base once more, as a server of its own: what it differs by from itself is what the intervals have to hold.

use rqps_model::{Label, SystemSource, SystemSpec};

use super::Refusal;

/// Adds the null arm behind the other systems, unless there is one.
///
/// # Errors
/// A base that rqps cannot start a second time.
pub(super) fn add(systems: &mut Vec<SystemSpec>, base: usize) -> Result<(), Refusal> {
    if systems.iter().any(|system| system.is_null_arm) {
        return Ok(());
    }
    let base = &systems[base];
    if matches!(base.source, SystemSource::External { .. }) {
        let what = format!("null = true, but rqps does not start the base {}", base.label);
        let remedy = "leave null out, or name version or basedir in place of dsn";
        return Err((what, remedy.to_owned()));
    }
    let names = (1..).map(|n| match n {
        1 => format!("{}-again", base.label),
        n => format!("{}-again{n}", base.label),
    });
    let is_free = |name: &String| systems.iter().all(|system| system.label.as_str() != name);
    let Some(label) = names.into_iter().find(is_free) else { return Ok(()) };
    let arm = SystemSpec { label: Label(label), is_null_arm: true, ..base.clone() };
    systems.push(arm);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::PlanFile;

    fn labels(text: &str) -> Result<Vec<(String, bool)>, String> {
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let plan = PlanFile::parse(text, "test").unwrap().resolve("test", &catalogue);
        let plan = plan.map_err(|error| error.to_string())?;
        // What is stored means the same, and has no second arm.
        let again = PlanFile::parse(&plan.to_toml(), "test").unwrap();
        assert_eq!(again.resolve("test", &catalogue).unwrap(), plan);
        Ok(plan.systems.iter().map(|s| (s.label.to_string(), s.is_null_arm)).collect())
    }

    #[test]
    fn the_base_is_there_once_more() {
        let two = "base = 'b'\nnull = true\n[[system]]\ndbms = 'postgres'\nversion = '17.4'\nlabel = 'a'\n\
                   [[system]]\ndbms = 'postgres'\nversion = '18.0'\nlabel = 'b'\n";
        let wanted = [("a", false), ("b", false), ("b-again", true)];
        assert_eq!(labels(two).unwrap(), wanted.map(|(label, is)| (label.to_owned(), is)));
        let none = two.replace("null = true", "null = false");
        assert_eq!(labels(&none).unwrap().len(), 2);
        let taken = two.replace("label = 'a'", "label = 'b-again'");
        assert_eq!(labels(&taken).unwrap()[2].0, "b-again2");
    }

    #[test]
    fn what_cannot_be_started_twice_has_no_null_arm() {
        let error = labels("null = true\n[[system]]\ndsn = 'postgres://u@h/d'\n").unwrap_err();
        assert!(error.contains("null = true, but rqps does not start the base"), "{error}");
        let arm = "[[system]]\ndbms = 'null'\nnull_arm = true\n";
        assert!(labels(arm).unwrap_err().contains("is a null arm"));
    }
}
