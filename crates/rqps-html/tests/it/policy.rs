//! What the policies of pages allow: the one style and the scripts that stand in the page, and no style in an attribute.

use rqps_analysis::Analysis;
use rqps_model::Run;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::page::{decoded, packed};
use crate::readable::readable;
use crate::{compare, history};
use rqps_fixtures::{blocks, hostile, inserts, many, stacks};

/// What stands in the page's elements of a name that have no attribute.
fn texts<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let after = page.split(begin.as_str()).skip(1);
    after.map(|rest| rest.split_once(end.as_str()).unwrap().0).collect()
}

/// The digests that a policy names in a directive.
fn named(policy: &str, directive: &str) -> Vec<Vec<u8>> {
    let part = policy.split("; ").find(|part| part.starts_with(directive)).unwrap();
    let sources = part[directive.len()..].split_whitespace().filter(|one| *one != "'none'");
    let digest = |one: &str| {
        let base64 = one.strip_prefix("'sha256-").and_then(|rest| rest.strip_suffix('\''));
        decoded(base64.unwrap())
    };
    sources.map(digest).collect()
}

/// All texts in a value.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| strings(one, out)),
        Value::Object(all) => all.values().for_each(|one| strings(one, out)),
        _ => {}
    }
}

fn assert_strict(name: &str, page: &str) {
    let begin = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
    let (before, after) = page.split_once(begin).unwrap();
    assert!(!before.contains("<style") && !before.contains("<script"), "{name}");
    let policy = after.split('"').next().unwrap().replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("'unsafe"), "{policy}");
    for (element, directive) in [("style", "style-src "), ("script", "script-src ")] {
        let digest = |text: &&str| Sha256::digest(text.as_bytes()).to_vec();
        let mut found: Vec<Vec<u8>> = texts(page, element).iter().map(digest).collect();
        let mut named = named(&policy, directive);
        found.sort();
        named.sort();
        assert_eq!(found, named, "{name}: {element}");
    }
    let mut markup = vec![readable(page)];
    assert_eq!(markup[0].matches("<style").count(), 1, "{name}");
    for id in ["bases", "bodies"] {
        if let Some(packed) = packed(page, id) {
            strings(&packed, &mut markup);
        }
    }
    for text in markup {
        // In texts from outside a quote is escaped.
        let at = text.find(" style=\"");
        assert_eq!(at.map(|at| text[at..].chars().take(80).collect::<String>()), None, "{name}");
    }
}

#[test]
fn a_page_has_the_style_and_the_scripts_that_its_policy_names() {
    let pair = rqps_fixtures::pair();
    let profiles = stacks::with_counters(0);
    let with_stacks = Analysis::of(&pair, 0.05).with_profiles(&profiles);
    let stacks = (0..with_stacks.steps.len())
        .find_map(|at| rqps_html::stacks_page::render(&with_stacks, at));
    let reads = |log: f64| blocks::reads("point-query", &blocks::around(log, 0.02, 30));
    let joined = compare::joined(None);
    let page = |run: &Run| rqps_html::render(&Analysis::of(run, 0.05));
    for (name, page) in [
        ("demo", page(&rqps_fixtures::demo())),
        ("pair", page(&pair)),
        ("insert", page(&inserts::run())),
        ("blocks", page(&blocks::run(&[vec![reads(-0.2)]]))),
        ("many", page(&many::of_systems(12))),
        ("large", page(&rqps_fixtures::large())),
        ("compare", rqps_html::render(&Analysis::of_joined(&joined, 0.05))),
        ("stacks", rqps_html::render(&with_stacks)),
        ("stacks of a step", stacks.unwrap()),
        ("history", rqps_html::history::render(&history::changed())),
    ] {
        assert_strict(name, &page);
    }
}

#[test]
fn hostile_text_styles_nothing() {
    for text in [
        "\" style=\"color:red",
        "' style='color:red",
        "</style><style>*{color:red}</style>",
        "<p style=\"color:red\">",
    ] {
        let run = hostile::run(text);
        assert_strict(text, &rqps_html::render(&Analysis::of(&run, 0.05)));
    }
}
