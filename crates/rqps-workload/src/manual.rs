//! The tables of docs/reference/workloads.md, generated from the suite.

use std::fmt::Write as _;

use rqps_model::StepKind;

use crate::Suite;
use crate::kind::kind_name;
use crate::statement::{Source, Statement};
use crate::step::{Clients, Short, Step};

/// The statements of a suite as a Markdown table, in the order in which steps use them.
#[must_use]
pub fn render_statements(suite: &Suite) -> String {
    let mut statements: Vec<&Statement> = Vec::new();
    for part in suite.steps.iter().flat_map(|step| &step.event) {
        if !statements.iter().any(|known| known.name == part.statement.name) {
            statements.push(&part.statement);
        }
    }
    let mut text = "| statement | SQL | parameters | rows |\n|---|---|---|---|\n".to_owned();
    for statement in statements {
        let mut sql = format!("`{}`", statement.sql);
        for (dbms, own) in
            [("PostgreSQL", &statement.sql_postgres), ("MariaDB", &statement.sql_mariadb)]
        {
            if let Some(own) = own {
                let _ = write!(sql, "; {dbms}: `{own}`");
            }
        }
        if statement.always_text {
            sql.push_str("; always text");
        }
        let params: Vec<&str> = statement.params.iter().map(|source| source.name()).collect();
        let _ = writeln!(
            text,
            "| {} | {sql} | {} | {} |",
            statement.name,
            params.join(", "),
            statement.expect.name()
        );
    }
    text
}

/// The parameters of statements as a Markdown table.
#[must_use]
pub fn render_sources() -> String {
    let mut text = "| parameter | what goes in |\n|---|---|\n".to_owned();
    for (_, name, meaning) in Source::ALL {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    text
}

/// The steps of a suite as a Markdown table, in order.
#[must_use]
pub fn render_steps(suite: &Suite) -> String {
    let mut text =
        "| step | kind | event | short form | also |\n|---|---|---|---|---|\n".to_owned();
    for step in &suite.steps {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            step.name,
            kind_name(step.kind),
            event_words(step),
            match step.short {
                Short::No => "",
                Short::Figure => "figure",
                Short::Run => "run",
            },
            also_words(step)
        );
    }
    text
}

fn event_words(step: &Step) -> String {
    match step.kind {
        StepKind::Load => return "fill tables".to_owned(),
        StepKind::Index => return "create index k".to_owned(),
        _ => {}
    }
    let mut words: Vec<String> = Vec::new();
    for part in &step.event {
        words.push(match part.times {
            1 => part.statement.name.clone(),
            times => format!("{times} x {}", part.statement.name),
        });
    }
    let words = words.join(", ");
    if step.transaction { format!("BEGIN, {words}, COMMIT") } else { words }
}

fn also_words(step: &Step) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(step.n.map(|n| format!("n={n}")));
    words.extend(step.fixed_s.map(|s| format!("{s} s")));
    words.extend(step.distribution.map(|distribution| distribution.to_string()));
    words.extend(step.rows.map(|rows| format!("rows={rows}")));
    if step.clients == Clients::Tables {
        words.push("clients = tables".to_owned());
    }
    if !step.needs.is_empty() {
        words.push(format!("needs {}", step.needs.join(", ")));
    }
    if step.always {
        words.push("always kept".to_owned());
    }
    if step.settle {
        words.push("then **settle**".to_owned());
    }
    words.join(", ")
}
