//! What changes results, where that is allowed: tags, notes, the removal of runs.

use hyper::StatusCode;
use rqps_store::{Error, Tag};

use crate::asked::Asked;
use crate::desk::Desk;
use crate::reply::Reply;

/// Gives a run tags, or takes one from it.
pub(crate) fn tag(desk: &Desk, asked: &Asked, id: &str) -> Result<Reply, Error> {
    let store = desk.store_of(id)?;
    let is_separator = |c: char| c == ',' || c.is_whitespace();
    let added = asked.form.get("add").split(is_separator).filter(|word| !word.is_empty());
    // All are sound before one is stored.
    let added = added.map(str::parse).collect::<Result<Vec<Tag>, _>>()?;
    for tag in &added {
        store.add_tag(id, tag)?;
    }
    if !asked.form.get("remove").is_empty() {
        store.remove_tag(id, &asked.form.get("remove").parse()?)?;
    }
    Ok(Reply::see(&format!("/runs/{id}")))
}

/// Writes the note of a run.
pub(crate) fn note(desk: &Desk, asked: &Asked, id: &str) -> Result<Reply, Error> {
    desk.store_of(id)?.set_note(id, &asked.form.get("note").replace("\r\n", "\n"))?;
    Ok(Reply::see(&format!("/runs/{id}")))
}

/// Removes a run with all that belongs to it.
pub(crate) fn remove(desk: &Desk, asked: &Asked, id: &str) -> Result<Reply, Error> {
    desk.store_of(id)?;
    if asked.form.get("sure") != "yes" {
        let sentence = "Nothing was removed: tick the box that says that you are sure.";
        return Ok(Reply::problem(StatusCode::UNPROCESSABLE_ENTITY, sentence));
    }
    Ok(match (desk.options.remove)(id) {
        Ok(()) => Reply::see("/"),
        Err(sentence) => Reply::problem(StatusCode::CONFLICT, &sentence),
    })
}
