//! docs/reference/plan.md: one plan with every key, and the doc comments of [`PlanFile`] as its comments.
//! `UPDATE_EXPECT=1` rewrites it.

use std::collections::BTreeSet;

use expect_test::expect_file;
use rqps_server::Catalogue;
use serde_json::Value;

use super::PlanFile;

/// Every key with a value. Keys that exclude others, or belong to another suite, stand behind `# `.
const PLAN: &str = include_str!("every_key.toml");

const WIDTH: usize = 100;

const HEAD: &str = "# Keys of a plan

This plan has every key, with its meaning, its range and its default. A line `# key = value` is a key
that this plan cannot have beside another one, or one of another suite. All keys may be left out but those
that say which systems to measure. [Write a plan](../how-to/write-a-plan.md) says how to begin.

Times are texts with a unit (`\"20ms\"`, `\"60s\"`, `\"20m\"`), except those in `seconds`. Sizes are texts
such as `\"512M\"` or `\"2G\"`. An unknown key or an impossible value is refused, with the key and the
remedy, before anything is fetched. A key marked with * is refused for a system with `dsn`.

";

/// The part of the schema that describes a table of the plan.
fn properties_of<'a>(schema: &'a Value, table: &str) -> &'a Value {
    let name = match table {
        "" => return &schema["properties"],
        "system" => "SystemFile",
        "suite" => "SuiteFile",
        "suite.seconds" => "SecondsFile",
        "schedule" => "ScheduleFile",
        "profile" => "ChosenFile",
        other => panic!("{other} is no table of a plan"),
    };
    &schema["$defs"][name]["properties"]
}

/// The description of a key as lines of a TOML comment.
fn comment(properties: &Value, key: &str) -> String {
    let text = properties[key]["description"].as_str();
    let text = text.unwrap_or_else(|| panic!("{key} has no description")).replace('\n', " ");
    textwrap::wrap(&text, WIDTH - 2).iter().map(|line| format!("# {line}\n")).collect()
}

/// `key = value` or `# key = value`.
fn key_of(line: &str) -> Option<&str> {
    line.strip_prefix("# ").unwrap_or(line).split_once(" = ").map(|(key, _)| key)
}

#[test]
fn the_page_has_every_key() {
    let schema = serde_json::to_value(schemars::schema_for!(PlanFile)).unwrap();
    let mut described = BTreeSet::new();
    let mut table = "";
    let mut page = format!("{HEAD}```toml\n");
    for line in PLAN.lines() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        } else if let Some(key) = key_of(line)
            && described.insert((table, key))
        {
            page += &comment(properties_of(&schema, table), key);
        }
        page += line;
        page.push('\n');
    }
    page += "```\n";
    for table in ["", "system", "suite", "suite.seconds", "schedule", "profile"] {
        for key in properties_of(&schema, table).as_object().unwrap().keys() {
            let is_table = PLAN.contains(&format!("[{key}]")) || PLAN.contains(&format!(".{key}]"));
            assert!(is_table || described.contains(&(table, key)), "{table}: {key} is missing");
        }
    }
    expect_file!["../../../../docs/reference/plan.md"].assert_eq(&page);
}

#[test]
fn the_plan_can_be_meant_and_so_can_each_key_that_is_not_in_force() {
    let catalogue = Catalogue::builtin().unwrap();
    PlanFile::parse(PLAN, "plan").unwrap().resolve("plan", &catalogue).unwrap();
    for line in PLAN.lines().filter(|line| line.starts_with("# ")) {
        PlanFile::parse(&PLAN.replace(line, &line[2..]), "plan").unwrap();
    }
}
