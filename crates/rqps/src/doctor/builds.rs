//! What this host lacks to build servers from source.

use rqps_build::{Need, Recipe, Recipes};
use rqps_model::{SourceBuild, SourceOrigin};

use super::Check;

/// One check for each recipe.
pub(super) fn checks() -> Vec<Check> {
    // Built-in recipes can be read: a test says so.
    let recipes = Recipes::builtin().map(|recipes| recipes.all).unwrap_or_default();
    let plain = SourceBuild::of(SourceOrigin::Directory { dir: ".".into(), tree: None });
    recipes.iter().map(|recipe| check(recipe, &recipe.missing(&plain))).collect()
}

fn check(recipe: &Recipe, missing: &[Need]) -> Check {
    let name = format!("build: {}", recipe.name);
    let versions = match &recipe.below {
        Some(below) => format!("from {} to below {below}", recipe.from),
        None => format!("from {}", recipe.from),
    };
    let purpose =
        format!("{} {versions} from source (repo or source in a plan)", recipe.dbms.name());
    if missing.is_empty() {
        return Check::ok(&name, "all that it needs is here", &purpose);
    }
    let found = format!("no {}", Need::names(missing).join(", "));
    let packages = Need::packages(missing).join(" ");
    Check::ok(&name, found, &purpose).note(format!("apt-get install {packages}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    #[test]
    fn what_is_missing_is_named_with_its_packages() {
        let recipes = Recipes::builtin().unwrap();
        let recipe = &recipes.all[0];
        let need = |program: Option<&str>, header: Option<&str>, package: &str| Need {
            program: program.map(str::to_owned),
            header: header.map(str::to_owned),
            package: package.to_owned(),
        };
        let missing = [
            need(Some("bison"), None, "bison"),
            need(None, Some("zlib.h"), "zlib1g-dev"),
            need(Some("yacc"), None, "bison"),
        ];
        let check = check(recipe, &missing);
        assert_eq!(check.found, "no bison, zlib.h, yacc");
        assert_eq!(check.remedy, "apt-get install bison zlib1g-dev");
        assert_eq!(check.state, State::Note);
        assert!(!check.required);
        assert_eq!(super::check(recipe, &[]).state, State::Ok);
    }
}
