//! Which servers can be had, by what places say.

use super::*;

fn find(version: &str) -> Entry {
    let catalogue = Catalogue::builtin().unwrap();
    let dbms = rqps_model::Dbms::Mysql;
    catalogue.find(dbms, &version.parse().unwrap(), None).unwrap().clone()
}

#[test]
fn what_places_say_decides() {
    let cache = tempfile::tempdir().unwrap();
    let (maven, url) = (find("8.0.33"), find("5.7.44"));
    let silent = Answer::Silent { why: "offline".to_owned() };
    let missing = Answer::NoClient { tool: "mvn", remedy: "x".to_owned() };
    let site = |host: &str| Place::Site(format!("https://{host}.mysql.com"));
    let mut answers = BTreeMap::from([
        (Place::Maven, missing),
        (site("dev"), silent.clone()),
        (site("cdn"), silent.clone()),
        (site("downloads"), silent),
    ]);
    let of = |entry: &Entry, answers: &BTreeMap<_, _>| availability(entry, answers, cache.path());
    assert_eq!(of(&maven, &answers), Availability::No("mvn is missing".to_owned()));
    let why = "cdn.mysql.com does not answer; dev.mysql.com does not answer; \
               downloads.mysql.com does not answer";
    assert_eq!(of(&url, &answers), Availability::No(why.to_owned()));
    answers.insert(Place::Maven, Answer::Yes);
    // A site that answers has an archive only when it says so.
    let of_cdn = |url: &&String| url.contains("//cdn.");
    let Some(Source::Url(it)) = url.sources.first() else { panic!("{:?}", url.sources) };
    let address = it.urls.iter().find(of_cdn).unwrap().clone();
    let absent = BTreeMap::from([(address.clone(), "answers 404 Not Found".to_owned())]);
    answers.insert(site("cdn"), Answer::Archives { there: BTreeSet::new(), absent });
    let why = format!("cdn.mysql.com answers 404 Not Found for {}", it.file);
    assert!(matches!(of(&url, &answers), Availability::No(no) if no.starts_with(&why)));
    let there = BTreeSet::from([address]);
    answers.insert(site("cdn"), Answer::Archives { there, absent: BTreeMap::new() });
    assert_eq!(of(&maven, &answers), Availability::From("Maven"));
    assert_eq!(of(&url, &answers), Availability::From("URL"));
    let mut other = maven.clone();
    other.arch = "vax".to_owned();
    assert!(matches!(of(&other, &answers), Availability::No(why) if why.contains("vax")));
    let mut large = url;
    large.unpacked_mb = u64::MAX / 100_000_000;
    assert!(matches!(of(&large, &answers), Availability::No(why) if why.contains("no space")));
}

#[test]
fn a_suite_must_still_have_the_version() {
    let cache = tempfile::tempdir().unwrap();
    let entry = find("9.7.4");
    let Some(Source::Debian(it)) = entry.sources.first() else { panic!("{:?}", entry.sources) };
    let of = |version: &str| {
        let known = it.packages.iter().map(|name| (name.clone(), version.to_owned())).collect();
        let place = Place::Debian(it.suite.clone());
        let answers = BTreeMap::from([(place, Answer::Packages(known))]);
        availability(&entry, &answers, cache.path())
    };
    assert_eq!(of("9.7.4-2"), Availability::From("Debian"));
    let Availability::No(why) = of("9.7.6-1") else { panic!("it has 9.7.6") };
    assert!(why.contains("now has mysql-server-core 9.7.6-1"), "{why}");
}

#[test]
fn a_site_is_the_scheme_and_host_of_an_address() {
    assert_eq!(site("https://a.b:8/c/d").as_deref(), Some("https://a.b:8"));
    assert_eq!(site("nothing"), None);
}
