//! A system of a plan: from what is written to what is meant.

use std::str::FromStr;

use rqps_model::UnknownWord;
use rqps_model::variant::parse_bytes;
use rqps_model::{
    Compression, Dbms, Durability, Engine, Label, Limits, Malloc, SourceBuild, SourceOrigin,
    SystemSource, SystemSpec, Transport, Variant, Version,
};
use rqps_server::engine::who_has_it;
use rqps_server::{Catalogue, Dsn, Error};

use super::{OptionValue, Refusal, SystemFile, unknown_word};

/// The smallest and the largest slowdown on purpose, percent: a basis point, in which it is kept.
const LEAST_SLOWDOWN_PCT: f64 = 0.01;
const MOST_SLOWDOWN_PCT: f64 = 50.0;

/// Where a system is written, which decides how a server of one's own is named there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnServer {
    InPlan,
    OnCommandLine,
}

impl OwnServer {
    fn written(self, dbms: Dbms) -> String {
        match self {
            Self::InPlan => "basedir = \"DIR\"".to_owned(),
            Self::OnCommandLine => format!("{dbms}@DIR"),
        }
    }
}

impl SystemFile {
    /// `own_server` is how a server that is not in the catalogue is named.
    pub(super) fn resolve(
        &self,
        catalogue: &Catalogue,
        own_server: OwnServer,
    ) -> Result<(SystemSpec, Option<String>), Refusal> {
        let dbms: Option<Dbms> = word(self.dbms.as_deref())?;
        let (source, dbms, password_dsn) = self.source(dbms, catalogue, own_server)?;
        let engine = self.engine(dbms)?;
        is_in_catalogue(engine, dbms, &source, catalogue)?;
        let config = match &source {
            // Not configured by rqps.
            SystemSource::External { .. } | SystemSource::Builtin | SystemSource::Imported => {
                String::new()
            }
            _ => self.config.clone().unwrap_or_else(|| "small".to_owned()),
        };
        let variant = self.variant(&source, engine)?;
        let label = self.label(dbms, &source, engine, &config, &variant)?;
        let options = self.options.iter().map(|(k, v)| (k.clone(), v.text())).collect();
        let transport = match &password_dsn {
            Some(dsn) => Dsn::parse(dsn).map_or_else(|_| Transport::default(), |d| d.transport()),
            None => self.transport.unwrap_or_default(),
        };
        let is_null_arm = self.null_arm.unwrap_or(false);
        let spec = SystemSpec {
            label,
            dbms,
            source,
            engine,
            config,
            options,
            transport,
            variant,
            is_null_arm,
        };
        Ok((spec, password_dsn))
    }

    fn engine(&self, dbms: Dbms) -> Result<Engine, Refusal> {
        let default = dbms.default_engine();
        let engine = word(self.engine.as_deref())?.unwrap_or(default);
        if !dbms.engines().contains(&engine) {
            let known = default.to_string();
            let what = format!("{} has no engine {:?}", dbms.name(), engine.to_string());
            return Err((what, format!("write engine = {known:?}, or leave it out")));
        }
        Ok(engine)
    }

    fn variant(&self, source: &SystemSource, engine: Engine) -> Result<Variant, Refusal> {
        let variant = Variant {
            malloc: word(self.malloc.as_deref())?.unwrap_or_default(),
            durability: word(self.durability.as_deref())?.unwrap_or_default(),
            compression: word(self.compression.as_deref())?.unwrap_or_default(),
            limits: self.limits()?,
            injected_slowdown_bp: self.injected_slowdown_bp()?,
            sql_after_load: self.sql_after_load()?,
        };
        if matches!(source, SystemSource::External { .. }) {
            for (key, given) in [
                ("malloc", self.malloc.is_some()),
                ("durability", self.durability.is_some()),
                ("memory", self.memory.is_some()),
                ("cpus", self.cpus.is_some()),
                ("injected_slowdown", self.injected_slowdown.is_some()),
            ] {
                if given {
                    let what = format!("rqps does not start a server given by dsn: {key}");
                    return Err((what, format!("leave out {key}, and set it on the server")));
                }
            }
        }
        let compression = variant.compression;
        let known = match engine {
            Engine::Innodb => "none, row, page-zlib, page-lz4, page-snappy",
            Engine::Rocksdb => "none, snappy, lz4, zlib, zstd, or a pair such as lz4+zstd",
            Engine::Heap => "none",
        };
        let fits = match compression {
            Compression::None => true,
            Compression::Row | Compression::Page(_) => engine == Engine::Innodb,
            Compression::Levels { .. } => engine == Engine::Rocksdb,
        };
        if !fits {
            let what = format!("engine {engine} has no compression \"{compression}\"");
            return Err((what, format!("write one of: {known}")));
        }
        Ok(variant)
    }

    fn limits(&self) -> Result<Limits, Refusal> {
        let memory_bytes = match &self.memory {
            None => None,
            Some(text) => Some(parse_bytes(text).ok_or_else(|| {
                let what = format!("memory = {text:?} is not a valid size");
                (what, "write \"2G\" or \"512M\"".to_owned())
            })?),
        };
        let cpus = match &self.cpus {
            None => None,
            Some(text) => Some(text.parse().map_err(|e: rqps_model::variant::NotCpus| {
                (e.to_string(), "write \"0-1\" or \"0,2\"".to_owned())
            })?),
        };
        Ok(Limits { memory_bytes, cpus })
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number from 0 to 5000"
    )]
    fn injected_slowdown_bp(&self) -> Result<u32, Refusal> {
        let percent = self.injected_slowdown.unwrap_or(0.0);
        if percent != 0.0 && !(LEAST_SLOWDOWN_PCT..=MOST_SLOWDOWN_PCT).contains(&percent) {
            let what = format!("injected_slowdown = {percent} is out of range");
            let remedy = format!(
                "write percent from {LEAST_SLOWDOWN_PCT} to {MOST_SLOWDOWN_PCT}, or 0 for none"
            );
            return Err((what, remedy));
        }
        Ok((percent * 100.0).round() as u32)
    }

    fn sql_after_load(&self) -> Result<Vec<String>, Refusal> {
        let is_empty = |sql: &&String| sql.trim().is_empty();
        if self.sql_after_load.iter().any(|sql| is_empty(&sql)) {
            let what = "sql_after_load has an empty statement".to_owned();
            return Err((what, "write one statement per text, or leave it out".to_owned()));
        }
        Ok(self.sql_after_load.clone())
    }

    fn label(
        &self,
        dbms: Dbms,
        source: &SystemSource,
        engine: Engine,
        config: &str,
        variant: &Variant,
    ) -> Result<Label, Refusal> {
        if let Some(label) = &self.label {
            if label.trim().is_empty() {
                let remedy = "leave it out, or name the system";
                return Err(("the label is empty".into(), remedy.into()));
            }
            return Ok(Label(label.clone()));
        }
        let mut setup = config_name(config).to_owned();
        for (differs, part) in [
            (engine == Engine::Rocksdb, engine.to_string()),
            (!variant.compression.is_none(), variant.compression.to_string()),
            (variant.malloc != Malloc::Build, variant.malloc.to_string()),
            (variant.durability == Durability::Full, "durable".to_owned()),
            (
                variant.injected_slowdown_bp > 0,
                format!("slowdown{}", f64::from(variant.injected_slowdown_bp) / 100.0),
            ),
            (!variant.sql_after_load.is_empty(), "altered".to_owned()),
        ] {
            if differs {
                setup.push_str(if setup.is_empty() { "" } else { "-" });
                setup.push_str(&part);
            }
        }
        Ok(match source {
            SystemSource::Catalogue { version, build } => {
                Label::of(dbms, version, build.as_deref(), &setup)
            }
            SystemSource::Basedir { path } => {
                let dir = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
                Label(format!("{}-{dir}.{setup}", dbms.letters()))
            }
            SystemSource::Built(how) => {
                Label(format!("{}-{}.{setup}", dbms.letters(), of_origin(&how.origin)))
            }
            SystemSource::External { .. } => super::label::external(dbms),
            SystemSource::Builtin | SystemSource::Imported => Label(dbms.letters().to_owned()),
        })
    }

    /// A DBMS without a server is a part of rqps: there is nothing to choose.
    fn builtin_source(&self, dbms: Dbms) -> Result<(SystemSource, Dbms, Option<String>), Refusal> {
        for (key, given) in [
            ("version", self.version.is_some()),
            ("basedir", self.basedir.is_some()),
            ("repo", self.repo.is_some()),
            ("commit", self.commit.is_some()),
            ("source", self.source.is_some()),
            ("dsn", self.dsn.is_some()),
            ("engine", self.engine.is_some()),
            ("config", self.config.is_some()),
            ("options", !self.options.is_empty()),
            ("transport", self.transport.is_some()),
            ("build", self.build.is_some()),
            ("malloc", self.malloc.is_some()),
            ("durability", self.durability.is_some()),
            ("compression", self.compression.is_some()),
            ("memory", self.memory.is_some()),
            ("cpus", self.cpus.is_some()),
            ("injected_slowdown", self.injected_slowdown.is_some()),
            ("sql_after_load", !self.sql_after_load.is_empty()),
        ] {
            if given {
                let what = format!("dbms \"{dbms}\" is a part of rqps and has no {key}");
                return Err((what, format!("leave out {key}")));
            }
        }
        Ok((SystemSource::Builtin, dbms, None))
    }

    fn source(
        &self,
        dbms: Option<Dbms>,
        catalogue: &Catalogue,
        own_server: OwnServer,
    ) -> Result<(SystemSource, Dbms, Option<String>), Refusal> {
        if let Some(dbms) = dbms.filter(|dbms| !dbms.is_server()) {
            return self.builtin_source(dbms);
        }
        let need_dbms = || {
            let what = "dbms is missing".to_owned();
            dbms.ok_or((what, "write dbms = \"mysql\", \"mariadb\" or \"postgres\"".to_owned()))
        };
        if let Some(how) = self.source_build()? {
            return Ok((SystemSource::Built(how), need_dbms()?, None));
        }
        if self.build.is_some() && self.version.is_none() {
            let what = "build needs a version of the catalogue, or source".to_owned();
            return Err((what, "write version, repo or source too, or leave out build".to_owned()));
        }
        match (&self.version, &self.basedir, &self.dsn) {
            (Some(version), None, None) => {
                let dbms = need_dbms()?;
                let see = || "see `rqps servers list`".to_owned();
                let wanted: Version = version.parse().map_err(|e| (format!("{e}"), see()))?;
                // Servers append words to their versions, users do not.
                if wanted.to_string() != version.trim() {
                    return Err((format!("version {version:?} is not a version number"), see()));
                }
                let build = self.build.as_deref();
                let entry = catalogue.find(dbms, &wanted, build).map_err(|error| {
                    let elsewhere = match error {
                        Error::UnknownVersion { .. } => {
                            format!(
                                "or name an installed server with {}; ",
                                own_server.written(dbms)
                            )
                        }
                        _ => String::new(),
                    };
                    (error.to_string(), format!("{elsewhere}{}", see()))
                })?;
                let (version, build) = (entry.version.clone(), self.build.clone());
                Ok((SystemSource::Catalogue { version, build }, dbms, None))
            }
            (None, Some(path), None) => {
                Ok((SystemSource::Basedir { path: path.clone() }, need_dbms()?, None))
            }
            (None, None, Some(dsn)) => {
                let parsed = Dsn::parse(dsn).map_err(|e| {
                    (e.to_string(), "write mysql://user@host:port/db?password_env=NAME".into())
                })?;
                if !self.options.is_empty() || self.config.is_some() {
                    let what = "rqps does not configure a server given by dsn".to_owned();
                    return Err((what, "leave out config and options".to_owned()));
                }
                if self.transport.is_some() {
                    let what = "the address of a server decides its transport".to_owned();
                    let remedy = "leave out transport; write ?socket=PATH or ?tls=required in dsn";
                    return Err((what, remedy.to_owned()));
                }
                if dbms.is_some_and(|dbms| dbms.family() != parsed.dbms.family()) {
                    let what = format!("dsn is the address of a {} server", parsed.dbms.name());
                    return Err((what, "leave out dbms, or name the same one".to_owned()));
                }
                let source = SystemSource::External { dsn: parsed.to_string() };
                Ok((source, dbms.unwrap_or(parsed.dbms), Some(dsn.clone())))
            }
            (None, None, None) => {
                need_dbms()?;
                let remedy =
                    "write one of them, such as version = \"8.0.33\" (see `rqps servers list`)";
                Err((
                    "it has no version, basedir, repo, source or dsn".to_owned(),
                    remedy.to_owned(),
                ))
            }
            _ => Err((
                "a system has only one of version, basedir, repo, source and dsn".into(),
                "keep one of them".into(),
            )),
        }
    }
}

impl SystemFile {
    /// How the server is built; `None` of a system that is not.
    fn source_build(&self) -> Result<Option<SourceBuild>, Refusal> {
        let origin = match (&self.repo, &self.commit, &self.source) {
            (Some(repo), Some(revision), None) => {
                SourceOrigin::Commit { repo: repo.clone(), revision: revision.clone(), hash: None }
            }
            (None, None, Some(dir)) => {
                SourceOrigin::Directory { dir: dir.clone(), tree: self.tree.clone() }
            }
            (None, None, None) => return self.is_not_built().map(|()| None),
            (Some(_), None, None) => {
                let what = "repo has no commit".to_owned();
                return Err((what, "write commit = \"HEAD\", or another one".to_owned()));
            }
            (None, Some(_), None) => {
                let what = "commit has no repo".to_owned();
                return Err((what, "write repo = \"DIRECTORY\" too".to_owned()));
            }
            (_, _, Some(_)) => {
                let what = "source is built as its files are, without repo and commit".to_owned();
                return Err((what, "keep source, or repo and commit".to_owned()));
            }
        };
        for (key, given) in [
            ("version", self.version.is_some()),
            ("basedir", self.basedir.is_some()),
            ("dsn", self.dsn.is_some()),
        ] {
            if given {
                let what = format!("{key} beside source that is built");
                return Err((what, format!("leave out {key}: the source says what it is")));
            }
        }
        Ok(Some(SourceBuild {
            origin,
            recipe: self.recipe.clone(),
            cc: self.cc.clone(),
            cflags: self.cflags.clone(),
            lto: self.lto.unwrap_or(false),
            rocksdb: word(self.engine.as_deref())? == Some(Engine::Rocksdb),
            build: word(self.build.as_deref())?.unwrap_or_default(),
            patches: self.patches.clone(),
        }))
    }

    /// Refuses keys of a build where nothing is built.
    fn is_not_built(&self) -> Result<(), Refusal> {
        for (key, given) in [
            ("recipe", self.recipe.is_some()),
            ("cc", self.cc.is_some()),
            ("cflags", self.cflags.is_some()),
            ("lto", self.lto.is_some()),
            ("patches", !self.patches.is_empty()),
            ("tree", self.tree.is_some()),
        ] {
            if given {
                let what = format!("{key} belongs to a system that is built from source");
                return Err((
                    what,
                    format!("write repo and commit, or source, or leave out {key}"),
                ));
            }
        }
        Ok(())
    }
}

/// The part of a label that tells the source: a revision, the beginning of a hash, or a directory.
fn of_origin(origin: &SourceOrigin) -> String {
    match origin {
        SourceOrigin::Commit { revision, .. } => {
            let is_hash = revision.len() == 40 && revision.chars().all(|c| c.is_ascii_hexdigit());
            let shown = if is_hash { &revision[..12] } else { revision.as_str() };
            shown.replace('/', "_")
        }
        SourceOrigin::Directory { dir, .. } => {
            dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        }
    }
}

/// Refuses an engine that is a plugin where the catalogue knows that the build has none.
fn is_in_catalogue(
    engine: Engine,
    dbms: Dbms,
    source: &SystemSource,
    catalogue: &Catalogue,
) -> Result<(), Refusal> {
    let SystemSource::Catalogue { version, build } = source else { return Ok(()) };
    let found = catalogue.find(dbms, version, build.as_deref());
    if engine != Engine::Rocksdb || found.is_ok_and(|entry| entry.engines.contains(&engine)) {
        return Ok(());
    }
    let what = format!("{} {version} of the catalogue has no engine \"{engine}\"", dbms.name());
    Err((what, who_has_it(&catalogue.selectors_with(engine))))
}

/// A word of a key, when the key is there.
fn word<T: FromStr<Err = UnknownWord>>(text: Option<&str>) -> Result<Option<T>, Refusal> {
    let read = |word: &str| word.parse().map_err(|e| unknown_word(&e));
    text.map(read).transpose()
}

impl OptionValue {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Bool(value) => u8::from(*value).to_string(),
        }
    }
}

/// The part of a config that goes into a label: a profile's name, or a file's without its ending.
fn config_name(config: &str) -> &str {
    let file = config.rsplit('/').next().unwrap_or(config);
    file.strip_suffix(".cnf").or_else(|| file.strip_suffix(".conf")).unwrap_or(file)
}
