//! What a user's catalogue adds, replaces, and is refused for.

use expect_test::expect;

use super::*;

const OWN: &str = r#"
[[server]]
dbms = "mysql"
version = "8.0.33"
build = "mine"
compiled = "my own flags"
unpacked_mb = 10
libraries = []

[[server.source]]
from = "file"
path = "mysql.tar.gz"
layout = "official-mysql"

[[server]]
dbms = "mysql"
version = "9.9.1"
build = "official"
compiled = "official"
unpacked_mb = 10
libraries = ["libaio.so.1"]

[[server.source]]
from = "url"
site = "mysql"
file = "mysql-{version}-linux-glibc2.28-x86_64.tar.xz"
checksum = "md5:00000000000000000000000000000000"
layout = "official-mysql"
"#;

fn with(text: &str) -> Result<Catalogue, Error> {
    Catalogue::builtin().unwrap().with_own(text, Path::new("/home/me/servers.toml"))
}

#[test]
fn nothing_of_a_layout_is_put_outside_the_prefix() {
    let refusal = |beside: &str| {
        let text = format!("[layout.own]\nkeep = ['bin/']\nbeside = {{ {beside} }}\n");
        with(&text).unwrap_err().to_string()
    };
    expect![[r#"catalogue /home/me/servers.toml: layout own: beside has the place "../libs", which is outside the prefix"#]].assert_eq(&refusal("'x/' = '../libs'"));
    expect![[
        r#"catalogue /home/me/servers.toml: layout own: beside has the path "lib"; write "lib/""#
    ]]
    .assert_eq(&refusal("'lib' = 'libs/'"));
    assert!(with("[layout.own]\nkeep = ['bin/']\nbeside = { 'x/' = 'libs/' }\n").is_ok());
}

#[test]
fn own_entries_stand_beside_the_built_in_ones_and_replace_the_same_build() {
    let catalogue = with(OWN).unwrap();
    let find = |version: &str, build| {
        catalogue.find(Dbms::Mysql, &version.parse().unwrap(), build).unwrap()
    };
    let mine = find("8.0.33", Some("mine"));
    assert_eq!(
        (mine.name(), mine.selector()),
        ("mysql-8.0.33-mine".into(), "mysql@8.0.33+mine".into())
    );
    assert!(mine.is_own() && !mine.shadows());
    let Source::File(file) = &mine.sources[0] else { panic!("{mine:?}") };
    assert_eq!(file.path, Path::new("/home/me/mysql.tar.gz"));
    let theirs = find("8.0.33", None);
    assert_eq!((theirs.name(), theirs.is_own()), ("mysql-8.0.33".into(), false));
    assert_eq!(theirs.selector(), "mysql@8.0.33");
    assert!(find("9.9.1", None).is_own());
    let Source::Url(url) = &find("9.9.1", None).sources[0] else { panic!() };
    assert!(url.urls.iter().any(|url| {
            url == "https://dev.mysql.com/get/Downloads/MySQL-9.9/mysql-9.9.1-linux-glibc2.28-x86_64.tar.xz"
        }), "{:?}", url.urls);
    // The very same one is replaced.
    let n = catalogue.servers().len();
    let same = OWN.replace("\"mine\"", "\"official\"");
    let catalogue = with(&same).unwrap();
    assert_eq!(catalogue.servers().len(), n - 1);
    let mine = catalogue.find(Dbms::Mysql, &"8.0.33".parse().unwrap(), None).unwrap();
    assert!(mine.is_own() && mine.shadows());
    assert_eq!(mine.selector(), "mysql@8.0.33");
}

#[test]
fn mistakes_name_file_line_and_entry() {
    let error = |from: &str, to: &str| {
        let text = OWN.replacen(from, to, 1);
        assert_ne!(text, OWN, "{from}");
        with(&text).unwrap_err().to_string()
    };
    let mut all = String::new();
    for (from, to) in [
        ("layout = \"official-mysql\"", "layout = \"nope\""),
        ("site = \"mysql\"", "site = \"nope\""),
        ("site = \"mysql\"\n", ""),
        ("\"libaio.so.1\"", "\"libx.so\""),
        ("build = \"mine\"", "build = \"my own\""),
        ("version = \"9.9.1\"\nbuild = \"official\"", "version = \"8.0.33\"\nbuild = \"mine\""),
        ("unpacked_mb = 10", "unpacked_mb = \"ten\""),
        ("md5:0000", "md5:"),
        ("from = \"file\"", "from = \"ftp\""),
        ("path = ", "colour = 1\npath = "),
        ("dbms = ", "dbsm = "),
        ("libraries = []", "libraries = ["),
    ] {
        let error = error(from, to).replace(&known(with("").unwrap().layouts.keys()), "LAYOUTS");
        all.push_str(&format!("# {to:?}\n{error}\n"));
    }
    expect![[r##"
        # "layout = \"nope\""
        catalogue /home/me/servers.toml: line 2, mysql 8.0.33 mine: unknown layout "nope"; known: LAYOUTS
        # "site = \"nope\""
        catalogue /home/me/servers.toml: line 15, mysql 9.9.1 official: unknown site "nope"; known: mariadb, mysql
        # ""
        catalogue /home/me/servers.toml: line 15, mysql 9.9.1 official: a source from = "url" needs urls or site
        # "\"libx.so\""
        catalogue /home/me/servers.toml: line 15, mysql 9.9.1 official: unknown library "libx.so"; add a [[library]]
        # "build = \"my own\""
        catalogue /home/me/servers.toml: line 2, mysql 8.0.33 my own: build = "my own" is not a word of letters and digits
        # "version = \"8.0.33\"\nbuild = \"mine\""
        catalogue /home/me/servers.toml: line 15, mysql 8.0.33 mine: is listed twice; give one of them another build
        # "unpacked_mb = \"ten\""
        catalogue /home/me/servers.toml: TOML parse error at line 7, column 15
          |
        7 | unpacked_mb = "ten"
          |               ^^^^^
        invalid type: string "ten", expected a whole number, 0 or more (in mysql 8.0.33 mine)
        # "md5:"
        catalogue /home/me/servers.toml: TOML parse error at line 23, column 1
           |
        23 | [[server.source]]
           | ^^^^^^^^^^^^^^^^^
        md5 is not 32 hex digits (in mysql 9.9.1 official)
        # "from = \"ftp\""
        catalogue /home/me/servers.toml: TOML parse error at line 11, column 8
           |
        11 | from = "ftp"
           |        ^^^^^
        unknown variant `ftp`, expected one of `maven`, `debian`, `url`, `pypi`, `npm`, `file` (in mysql 8.0.33 mine)
        # "colour = 1\npath = "
        catalogue /home/me/servers.toml: TOML parse error at line 10, column 1
           |
        10 | [[server.source]]
           | ^^^^^^^^^^^^^^^^^
        unknown field `colour`, expected one of `path`, `checksum`, `layout` (in mysql 8.0.33 mine)
        # "dbsm = "
        catalogue /home/me/servers.toml: TOML parse error at line 3, column 1
          |
        3 | dbsm = "mysql"
          | ^^^^
        unknown field `dbsm`, expected one of `dbms`, `version`, `build`, `packaged`, `compiled`, `unpacked_mb`, `libraries`, `engines`, `tried`, `arch`, `source`, `addition`; did you mean `dbms`?
        # "libraries = ["
        catalogue /home/me/servers.toml: TOML parse error at line 11, column 1
           |
        11 | from = "file"
           | ^
        missing comma between array elements, expected `,` (in mysql 8.0.33 mine)
    "##]].assert_eq(&all);
}
