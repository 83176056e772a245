//! A plan from what was typed: a file, or systems by name, and what the command line says on top.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use rqps_runner::plan::{COMMAND_LINE, ScheduleFile, SuiteFile, SystemFile};
use rqps_runner::{Plan, PlanFile};
use rqps_sample::given_file::{self, Access};

use crate::args::RunArgs;
use crate::{Surroundings, steps};

/// Most bytes of a plan: thousands of systems.
const MOST_OF_PLAN: u64 = 16 << 20;

/// The plan that was named or described, with what the command line says on top.
pub(crate) fn plan_of(args: &RunArgs, around: &Surroundings) -> Result<Plan> {
    let (mut file, origin) = match (&args.plan, &args.base) {
        (Some(path), _) => read_plan(path, " (or name systems with --base and --vs)")?,
        (None, Some(base)) => {
            if args.candidates.is_empty() {
                bail!("--base needs at least one --vs SYSTEM to compare it with");
            }
            let systems = std::iter::once(base).chain(&args.candidates);
            let system = systems.map(|text| system_of(text)).collect::<Result<Vec<_>>>()?;
            (PlanFile { system, ..PlanFile::default() }, COMMAND_LINE.to_owned())
        }
        (None, None) => bail!("name a PLAN.toml, or --base SYSTEM and --vs SYSTEM"),
    };
    apply(args, &mut file)?;
    Ok(file.resolve(&origin, &around.catalogue)?)
}

/// The plan in a file, and what errors call it; `or` names another way where it cannot be read.
///
/// # Errors
/// When it is no plan, or holds a password and others may read it.
pub(crate) fn read_plan(path: &Path, or: &str) -> Result<(PlanFile, String)> {
    let origin = path.display().to_string();
    let (text, access) = given_file::read_text_with_access(path, MOST_OF_PLAN)
        .with_context(|| format!("read the plan {origin}{or}"))?;
    let file = PlanFile::parse(&text, &origin)?;
    if access == Access::Others && file.has_password() {
        bail!(
            "{origin} holds a password and others may read it; run chmod 600 {origin}, or write \
             ?password_env=NAME or ?password_file=PATH"
        );
    }
    Ok((file, origin))
}

/// Lays what was typed over what the plan says.
///
/// # Errors
/// When `--steps` names a suite that the plan does not have.
pub(crate) fn apply(args: &RunArgs, file: &mut PlanFile) -> Result<()> {
    if file.suite.is_empty() {
        file.suite.push(SuiteFile::default());
    }
    for suite in &mut file.suite {
        if let Some(kind) = &args.work.suite {
            suite.kind = Some(kind.clone());
        }
        if let Some(size) = &args.work.size {
            // A size replaces what the plan says of tables and seconds. A transaction that is held open is work.
            suite.size = Some(size.clone());
            (suite.tables, suite.rows, suite.rows_later) = (None, None, None);
            let is_insert = suite.kind.as_deref() == Some("insert");
            let hold = suite.seconds.hold.filter(|_| is_insert);
            suite.seconds = rqps_runner::plan::SecondsFile { hold, ..Default::default() };
        }
        if let Some(form) = &args.work.form {
            suite.form = Some(form.clone());
        }
        suite.rate = args.rate.or(suite.rate);
        if args.reuse_tables {
            suite.reuse_tables = Some(true);
        }
        if !args.work.clients.is_empty() {
            suite.clients = Some(args.work.clients.clone());
        }
    }
    steps::choose(&args.steps, &mut file.suite)?;
    if let Some(audit) = &args.audit {
        file.audit = Some(audit.clone());
    }
    // What is typed replaces what contradicts it.
    let schedule: &mut ScheduleFile = &mut file.schedule;
    if let Some(slices) = args.slices {
        schedule.slices = Some(slices);
        (schedule.budget, schedule.time) = (None, None);
    }
    if let Some(time) = &args.time {
        schedule.time = Some(time.clone());
        (schedule.budget, schedule.slices) = (None, None);
    }
    if args.null {
        file.null = Some(true);
    }
    schedule.starts = args.starts.or(schedule.starts);
    schedule.seed = args.work.seed.or(schedule.seed);
    if let Some(mode) = &args.schedule {
        schedule.mode = Some(mode.clone());
        if mode == "sequential" {
            (schedule.slice, schedule.budget, schedule.precision) = (None, None, None);
            schedule.time = None;
        }
    }
    if let Some(placement) = &args.work.placement {
        schedule.placement = Some(placement.clone());
    }
    Ok(())
}

/// A system as typed: `mysql@8.0.33`, `postgres@18.6+debian`, `mysql@/opt/mysql`, `pg@git:REPO#COMMIT`,
/// `mysql://user@host/db`; with `NAME=` before it, its label.
pub(crate) fn system_of(text: &str) -> Result<SystemFile> {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['@', ':', '/', ' ']);
    match text.split_once('=').filter(|(name, _)| is_name(name)) {
        Some((name, system)) => {
            Ok(SystemFile { label: Some(name.to_owned()), ..unlabelled(system)? })
        }
        None => unlabelled(text),
    }
}

/// Whether what stands behind the DBMS is a directory and no version: a path, or a name that only a directory has.
fn is_directory(place: &str) -> bool {
    let begins_as_version = place.starts_with(|c: char| c.is_ascii_digit());
    place.contains('/')
        || [".", ".."].contains(&place)
        || !begins_as_version && Path::new(place).is_dir()
}

/// A system that is built from a commit: `pg@git:../postgres#REL_17_STABLE~3`.
fn of_commit(dbms: &str, of_git: &str) -> Result<SystemFile> {
    let Some((repo, commit)) =
        of_git.rsplit_once('#').filter(|(repo, commit)| !repo.is_empty() && !commit.is_empty())
    else {
        bail!(
            "system \"{dbms}@git:{of_git}\" is not DBMS@git:REPOSITORY#COMMIT, such as pg@git:../postgres#HEAD~1"
        );
    };
    let repo = std::path::absolute(repo).context("find the repository")?;
    Ok(SystemFile {
        dbms: Some(dbms.to_owned()),
        repo: Some(repo),
        commit: Some(commit.to_owned()),
        ..SystemFile::default()
    })
}

fn unlabelled(text: &str) -> Result<SystemFile> {
    if rqps_server::Dsn::looks_like(text) {
        // Not shown: everybody on the host has seen it in the list of processes by now.
        if rqps_server::Dsn::parse(text).is_ok_and(|dsn| dsn.has_password()) {
            bail!(
                "an address on the command line holds a password, which every user of this host can \
                 read there; write mysql://USER@HOST/DATABASE?password_env=NAME or ?password_file=PATH, \
                 or put the address into a plan"
            );
        }
        return Ok(SystemFile { dsn: Some(text.to_owned()), ..SystemFile::default() });
    }
    if text == "null" {
        return Ok(SystemFile { dbms: Some(text.to_owned()), ..SystemFile::default() });
    }
    if let Some((dbms, of_git)) = text.split_once("@git:") {
        return of_commit(dbms, of_git);
    }
    // Not shown: there may be a password in it.
    if let Some((before, after)) = text.split_once('@')
        && (before.contains(':') || (!after.contains('/') && after.contains(['@', ':'])))
    {
        bail!("a system looks like an address without \"://\"; write mysql://USER@HOST/DATABASE");
    }
    let Some((dbms, place)) = text.split_once('@') else {
        if text.contains([' ', '=', ';', ':']) {
            bail!(
                "a system is not DBMS@VERSION (such as mysql@8.0.33), DBMS@DIRECTORY or an address \
                 (mysql://USER@HOST/DATABASE)"
            );
        }
        bail!(
            "system {text:?} is not DBMS@VERSION (such as mysql@8.0.33), DBMS@DIRECTORY, DBMS@git:REPOSITORY#COMMIT or an address"
        );
    };
    let mut system = SystemFile { dbms: Some(dbms.to_owned()), ..SystemFile::default() };
    if is_directory(place) {
        let path = std::path::absolute(PathBuf::from(place)).context("find the directory")?;
        system.basedir = Some(path);
    } else {
        let (version, build) =
            place.split_once('+').map_or((place, None), |(version, build)| (version, Some(build)));
        system.version = Some(version.to_owned());
        system.build = build.map(ToOwned::to_owned);
    }
    Ok(system)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    /// The schedule of a plan with these keys after `rqps run plan.toml ARGUMENTS`.
    fn typed_over(keys: &str, arguments: &str) -> Result<rqps_model::Schedule, String> {
        let words = format!("rqps run plan.toml {arguments}");
        let cli = Cli::try_parse_from(words.split_whitespace()).unwrap();
        let Command::Run(args) = cli.command else { panic!("{words}") };
        let system = |label| format!("[[system]]\ndbms = 'null'\nlabel = '{label}'\n");
        let text = format!("{}{}[schedule]\n{keys}\n", system("a"), system("b"));
        let mut file = PlanFile::parse(&text, "test").unwrap();
        apply(&args, &mut file).unwrap();
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        file.resolve("test", &catalogue).map(|plan| plan.schedule).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_typed_replaces_what_contradicts_it() {
        let all = "budget = '60s'\nprecision = '1%'\nslice = '50ms'";
        let sequential = |slices| Ok(rqps_model::Schedule::Sequential { slices });
        assert_eq!(typed_over(all, "--schedule sequential"), sequential(6));
        assert_eq!(typed_over(all, "--schedule sequential --slices 2"), sequential(2));
        let schedule = typed_over(all, "--slices 3").unwrap();
        assert_eq!((schedule.slices(), schedule.half_width()), (3, Some(0.01)));
        assert_eq!(schedule.at_most(Duration::from_secs(5)), Duration::from_secs(15));
        let kept = typed_over(all, "--schedule interleaved").unwrap();
        assert_eq!(kept.at_most(Duration::from_secs(5)), Duration::from_secs(60));
        // What contradicts itself in the plan is still refused.
        assert!(typed_over("budget = '60s'\nslices = 2", "").is_err());
    }

    #[test]
    fn a_size_replaces_tables_and_lengths_and_leaves_work() {
        let over = |arguments: &str| {
            let words = format!("rqps run plan.toml {arguments}");
            let cli = Cli::try_parse_from(words.split_whitespace()).unwrap();
            let Command::Run(args) = cli.command else { panic!("{words}") };
            let text = "[[suite]]\nkind = 'insert'\nrows = 500_000\nrows_later = 1_000_000\n\
                        [suite.seconds]\nquery = 20\nhold = 30\n";
            let mut file = PlanFile::parse(text, "test").unwrap();
            apply(&args, &mut file).unwrap();
            let suite = &file.suite[0];
            (suite.rows, suite.rows_later, suite.seconds.query, suite.seconds.hold)
        };
        assert_eq!(over("--size tiny"), (None, None, None, Some(30.0)));
        assert_eq!(over("--size tiny --suite sysbench"), (None, None, None, None));
        let kept = (Some(500_000), Some(1_000_000), Some(20.0), Some(30.0));
        assert_eq!(over("--slices 2"), kept);
    }

    #[test]
    fn systems_as_typed() {
        let system = system_of("pg@17.4").unwrap();
        assert_eq!((system.dbms.as_deref(), system.version.as_deref()), (Some("pg"), Some("17.4")));
        let system = system_of("pg@18.6+debian").unwrap();
        let typed = (system.version.as_deref(), system.build.as_deref());
        assert_eq!(typed, (Some("18.6"), Some("debian")));
        let system = system_of("mysql@/opt/my").unwrap();
        assert_eq!(system.basedir.as_deref(), Some(Path::new("/opt/my")));
        assert!(system_of("postgres://u@h/d").unwrap().dsn.is_some());
        assert_eq!(system_of("pg@.").unwrap().basedir, std::env::current_dir().ok());
        // Tests run in the crate's directory.
        let src = system_of("pg@src").unwrap().basedir.unwrap();
        assert!(src.is_absolute() && src.ends_with("src"));
        let built = system_of("new=pg@git:src#work/fix~2").unwrap();
        let typed = (built.label.as_deref(), built.dbms.as_deref(), built.commit.as_deref());
        assert_eq!(typed, (Some("new"), Some("pg"), Some("work/fix~2")));
        assert!(built.repo.is_some_and(|repo| repo.is_absolute() && repo.ends_with("src")));
        let error = system_of("pg@git:src").unwrap_err().to_string();
        assert!(error.contains("DBMS@git:REPOSITORY#COMMIT"), "{error}");
        assert_eq!(system_of("pg@latest").unwrap().version.as_deref(), Some("latest"));
        let named = system_of("patched=pg@/opt/pg").unwrap();
        let of = (named.label.as_deref(), named.basedir.as_deref());
        assert_eq!(of, (Some("patched"), Some(Path::new("/opt/pg"))));
        let named = system_of("prod=mysql://u@h/d?password_env=P").unwrap();
        assert_eq!((named.label.as_deref(), named.dsn.is_some()), (Some("prod"), true));
        assert_eq!(system_of("mysql://u@h/d?password_env=P").unwrap().label, None);
        let error = system_of("mysql:/bob:secret@host/db").unwrap_err().to_string();
        assert!(error.contains("without \"://\"") && !error.contains("secret"), "{error}");
        assert!(system_of("17.4").unwrap_err().to_string().contains("DBMS@VERSION"));
    }
}
