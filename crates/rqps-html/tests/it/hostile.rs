//! Text from outside stays text on every page.

use rqps_analysis::history::History;
use rqps_analysis::{Analysis, Joined};
use rqps_fixtures::{hostile, inserts, several, stacks, versions};

use crate::history::choice;
use crate::readable::readable;

const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "a|b`c*d_e[f](g)<!--",
    "\u{202e}evil\u{1b}[31m\n\r\t=1+1",
    "مرحبا بالعالم </style></title></summary>",
];

/// The tags of a page, each as far as its name: nothing but our own may open one.
fn tags(page: &str) -> Vec<String> {
    page.split('<')
        .skip(1)
        .map(|t| t.chars().take_while(|c| c.is_ascii_alphanumeric() || "/!".contains(*c)).collect())
        .collect()
}

/// No attribute that loads or leads anywhere but inside the page.
pub(crate) fn assert_no_outside(page: &str) {
    let markup: String = page
        .split("<bdi>")
        .map(|part| part.split_once("</bdi>").map_or(part, |(_, after)| after))
        .collect();
    for word in ["http:", "https:", "src=\"", "url(", "@import", "<link", "<iframe", "<img"] {
        assert!(!markup.contains(word), "{word}");
    }
    for target in page.split("href=\"").skip(1) {
        let is_inside =
            target.starts_with('#') || target.starts_with("data:application/gzip;base64,");
        assert!(is_inside, "{}", &target[..20.min(target.len())]);
    }
}

#[test]
fn hostile_text_opens_no_tag_and_leads_nowhere() {
    let mut own = tags(&readable(&rqps_html::render(&Analysis::of(&rqps_fixtures::demo(), 0.05))));
    own.extend(["/ul", "ul", "br", "sup", "/sup", "strong", "/strong"].map(str::to_owned));
    for text in HOSTILE {
        let run = hostile::run(text);
        let page = readable(&rqps_html::render(&Analysis::of(&run, 0.05)));
        for tag in tags(&page) {
            assert!(own.contains(&tag), "<{tag} from {text:?}");
        }
        assert_eq!(page.matches("<script>").count(), 2, "{text:?}");
        assert_no_outside(&page);
        assert!(!page.contains(['\u{1b}', '\u{202e}', '\r']), "{text:?}");
    }
}

#[test]
fn hostile_names_of_the_insert_benchmark_stay_text() {
    let mut run = inserts::run();
    let evil = "<script>alert(1)</script>|\u{1b}[31m`";
    for system in run.steps.iter_mut().flat_map(|s| &mut s.systems) {
        system.debt.insert(evil.to_owned(), 1);
        for passed in [true, false] {
            let (name, found) = (format!("{evil}{passed}"), evil.to_owned());
            system.checks.push(rqps_model::run::Check { name, passed, found });
        }
    }
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    assert_eq!(page.matches("<script>").count(), 2);
    assert!(!page.contains('\u{1b}'));
}

#[test]
fn hostile_text_of_several_runs_stays_text() {
    let hostile = "</td><script>alert(1)</script>\u{1b}[31m\u{202e}";
    let mut runs = several::two();
    for (run, n) in runs.iter_mut().zip(0..) {
        run.id = format!("{n}{hostile}");
        (run.name, run.command_line) = (hostile.to_owned(), vec![hostile.to_owned()]);
        run.plan = format!("[[suite]]\n'</td><script>' = '<script>{n}'\n");
        (run.host.hostname, run.host.kernel) = (format!("{hostile}{n}"), format!("{hostile}{n}"));
        for system in &mut run.systems {
            system.spec.label.0 += hostile;
        }
    }
    let joined = Joined::of(runs, None, &[hostile.to_owned()]).unwrap();
    let page = rqps_html::render(&Analysis::of_joined(&joined, 0.05));
    assert_eq!(page.matches("<script>").count(), 2, "{page}");
    assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page}");
}

#[test]
fn hostile_text_of_histories_stays_text() {
    let mut runs = versions::versions();
    let hostile = "</title><script>alert(1)</script>\u{202e}\u{1b}[31m\"=1+1";
    for run in &mut runs {
        run.id += hostile;
        run.host.hostname = hostile.to_owned();
        run.steps[0].info.name = hostile.to_owned();
        run.systems[1].spec.label.0 += hostile;
        run.systems[1].spec.config = hostile.to_owned();
    }
    let page = rqps_html::history::render(&History::of(runs, choice()).unwrap());
    assert!(!page.contains("<script") && !page.contains("src="), "{page}");
    assert!(page.split("href=\"").skip(1).all(|target| target.starts_with('#')));
    assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page}");
}

#[test]
fn hostile_names_of_functions_stay_text() {
    let run = rqps_fixtures::pair();
    let mut profiles = stacks::pair(0);
    let hostile = "</title><script>alert(1)</script>\u{202e}\u{1b}[31m|`*";
    for profile in &mut profiles {
        profile.stacks.add([hostile, "x"], 500);
        profile.waits.add([hostile, hostile, hostile], 500);
    }
    profiles[1].stacks.add([hostile, hostile], 5000);
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let own = rqps_html::stacks_page::render(&analysis, 0).unwrap();
    for page in [rqps_html::render(&analysis), own] {
        assert!(!page.contains("<script>alert") && !page.contains("</title><script"));
    }
}
