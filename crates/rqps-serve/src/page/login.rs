//! Showing the token: a form, a session, and its end.

use hyper::StatusCode;
use maud::html;

use super::shell;
use crate::asked::Asked;
use crate::desk::Desk;
use crate::reply::Reply;

/// The form, with what was wrong before.
pub(crate) fn show(desk: &Desk, asked: &Asked, wrong: Option<&str>) -> Reply {
    if desk.options.token.is_none() {
        return Reply::see("/");
    }
    let content = html! {
        @if let Some(wrong) = wrong { p.warning role="alert" { (wrong) } }
        form.ask method="post" action="/login" {
            p {
                label for="token" { "Token" }
                input #token type="password" name="token" required autocomplete="current-password"
                    maxlength="256" autofocus;
            }
            p { button type="submit" { "Log in" } }
        }
        p.hint { "It is in the file that the server was started with." }
    };
    let about = shell::About { title: "Log in", script: None, again: None };
    Reply::page(shell::page(desk, asked, about, &content))
}

/// Takes a token, and begins a session where it is the one.
pub(crate) fn enter(desk: &Desk, asked: &Asked) -> Reply {
    let Some(token) = &desk.options.token else { return Reply::see("/") };
    if !token.is(asked.form.get("token")) {
        let page = show(desk, asked, Some("That is not the token."));
        return page.with_status(StatusCode::UNAUTHORIZED);
    }
    match desk.sessions.begin() {
        Ok(cookie) => Reply::see("/").with_cookie(cookie),
        Err(error) => Reply::problem(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

/// Ends the browser's session.
pub(crate) fn leave(desk: &Desk, asked: &Asked) -> Reply {
    Reply::see("/login").with_cookie(desk.sessions.end(&asked.cookies))
}
