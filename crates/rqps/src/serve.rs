//! `rqps serve`: what was typed as the server's options, and what it says on the terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use rqps_sample::given_file;
use rqps_serve::{Options, Remove, Token};
use rqps_store::Store;

use crate::args::ServeArgs;
use crate::{Surroundings, complain, runs};

/// Most bytes of a file with a token.
const MOST_OF_TOKEN: u64 = 64 << 10;

/// Carries out `rqps serve ...`; ends at the first signal.
pub(crate) fn run(args: &ServeArgs, token: Option<&str>, around: &Surroundings) -> Result<()> {
    let token = match (&args.token_file, token) {
        (Some(path), _) => Some(Token::new(&read_token(path)?)?),
        (None, Some(text)) => Some(Token::new(text).context("read RQPS_TOKEN")?),
        (None, None) => None,
    };
    let (lab, results) = (around.lab(), around.results.clone());
    let remove: Box<Remove> = Box::new(move |id: &str| {
        let removed = Store::open_existing(&results).map_err(anyhow::Error::from);
        let removed =
            removed.and_then(|store| runs::remove(&store, id, &lab, &mut runs::tell_kept));
        removed.map(|_| ()).map_err(|error| format!("{error:#}"))
    });
    let options = Options {
        results: around.results.clone(),
        listen: args.listen,
        names: args.names.clone(),
        token,
        may_write: args.allow_write,
        remove,
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        stop: Arc::clone(&around.interrupt),
    };
    rqps_serve::serve(options, &mut |at| {
        complain(&format!(
            "http://{at}/ shows the runs of {}; Ctrl-C ends it",
            around.results.display()
        ));
    })?;
    Ok(())
}

/// A token's file, which only its owner may read.
fn read_token(path: &Path) -> Result<String> {
    let shown = path.display();
    let metadata = fs::metadata(path).with_context(|| format!("read the token file {shown}"))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        bail!(
            "others may read the token file {shown}; run `chmod 600 {shown}` and choose a new token"
        );
    }
    given_file::read_text(path, MOST_OF_TOKEN)
        .with_context(|| format!("read the token file {shown}"))
}
