"""The pages as Jinja2 templates. Every value is escaped; nothing here is marked as safe but the style sheet."""

from __future__ import annotations

from typing import Final

from jinja2 import DictLoader, Environment, StrictUndefined, select_autoescape

from bosun.dashboard.style import STYLE

BASE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{% block title %}{% endblock %} – Bosun</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{{ style|safe }}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<nav aria-label="Bosun"><a href="/">Conversations</a>{% if links %} · <a href="/link">Slack</a>{% endif %}</nav>
<form method="post" action="/logout"><span class="who">{{ visitor.actor.display_name }}</span>
<input type="hidden" name="csrf" value="{{ visitor.csrf }}"><button class="plain">Sign out</button></form>
</header>
<main id="main" tabindex="-1">
{% if problem %}<p class="notice" role="alert">{{ problem }}</p>{% endif %}
{% block main %}{% endblock %}
</main>
</body>
</html>
"""

LIST: Final = """{% extends "base" %}
{% block title %}Conversations{% endblock %}
{% block main %}
<h1>Conversations</h1>
{% if conversations %}
<ul class="list">
{% for each in conversations %}<li><a href="/conversations/{{ each.id|urlencode }}">
<span class="name">{{ each.title or "Without a title" }}</span>
<span class="quiet">{% if each.location.kind != "web" %}{{ each.location.kind }} · {% endif %}
<time datetime="{{ each.createdAt }}">{{ each.createdAt|moment }}</time></span></a></li>
{% endfor %}</ul>
{% if older %}<p><a rel="next" href="/?before={{ older|urlencode }}">Older conversations</a></p>{% endif %}
{% elif paged %}<p>There are no older conversations. <a href="/">Back to the newest</a></p>
{% else %}<p>There are no conversations yet. Write to Bosun, and one begins.</p>{% endif %}
<form class="say" method="post" action="/conversations">
<input type="hidden" name="csrf" value="{{ visitor.csrf }}"><input type="hidden" name="key" value="{{ key }}">
<label for="message">Begin a conversation</label>
<textarea id="message" name="message" required maxlength="20000">{{ draft }}</textarea>
<div class="row"><button>Send</button></div>
</form>
{% endblock %}
"""

CONVERSATION: Final = """{% extends "base" %}
{% block title %}{{ view.title or "Without a title" }}{% endblock %}
{% macro turn_details(turn) %}
<details class="turn"><summary>Turn: <span class="{{ turn.status }}">{{ turn.status|words }}</span>
{%- if turn.error %} ({{ turn.error|words }}){% endif %}
{%- if turn.toolCalls %} · {{ turn.toolCalls|length }} tool call{{ "s" if turn.toolCalls|length > 1 }}{% endif %}
{%- if turn.pauses %} · paused {{ turn.pauses }}×{% endif %}</summary>
{% if turn.routing %}<dl><dt>Profile</dt><dd>{{ turn.routing.profile }}, {{ turn.routing.reasoning }} reasoning</dd>
<dt>Why</dt><dd>{{ turn.routing.reason }} ({{ turn.routing.by }}, {{ "%.2f"|format(turn.routing.confidence) }})</dd></dl>
{% endif %}
{% for call in turn.toolCalls %}<p><b>{{ call.name }}</b> <span class="{{ call.status }}">{{ call.status|words }}</span></p>
<pre aria-label="Input of {{ call.name }}">{{ call.input|written }}</pre>
{% if call.output is not none %}<pre aria-label="Result of {{ call.name }}">{{ call.output|written }}</pre>{% endif %}
{% endfor %}
{% for review in turn.guardianReviews %}<p>Guardian: <span class="{{ 'succeeded' if review.decision == 'allow' else 'denied' }}">
{{ review.decision }}</span> {{ review.tool }} ({{ review.risk }} risk) – {{ review.reason }}</p>{% endfor %}
{% for made in turn.compactions %}<p>{{ made.kind|words|capitalize }}: {{ made.replaced }} messages summarized,
about {{ made.tokensBefore }} → {{ made.tokensAfter }} tokens</p><pre aria-label="Summary">{{ made.summary }}</pre>{% endfor %}
{% if turn.usage %}<dl>{% for role, used in turn.usage.items() %}<dt>{{ role|words }}</dt>
<dd>{{ used.inputTokens }} tokens in{% if used.cachedInputTokens %} ({{ used.cachedInputTokens }} cached){% endif %},
{{ used.outputTokens }} out ·
{% if turn.cost[role] %}{{ turn.cost[role].amount }} {{ turn.cost[role].currency }} at the prices of {{ turn.cost[role].asOf }}
{%- else %}no price known{% endif %}</dd>{% endfor %}</dl>{% endif %}
<p class="quiet">{{ turn.startedAt|moment }}{% if turn.endedAt %} – {{ turn.endedAt|moment }}{% endif %}</p>
</details>
{% endmacro %}
{% block main %}
<h1>{{ view.title or "Without a title" }}</h1>
<p class="quiet">{{ view.location.kind|words }} · <time datetime="{{ view.createdAt }}">{{ view.createdAt|moment }}</time> ·
<span id="state">{{ status|words }}</span> · <a href="/conversations/{{ view.id|urlencode }}">Reload</a></p>
<h2 id="talk">What was said</h2>
{% if earlier %}<p><a href="/conversations/{{ view.id|urlencode }}?before={{ earlier }}">Earlier</a></p>{% endif %}
{% if not latest %}<p><a href="/conversations/{{ view.id|urlencode }}">To the latest</a></p>{% endif %}
<ol class="talk" aria-labelledby="talk">
{% for item in timeline %}<li>
{% if item.message %}{% set said = item.message %}
<article class="said {{ 'person' if said.role == 'user' else '' }} {{ 'error' if said.kind == 'error' else '' }}">
<div class="by"><b>{{ said.author }}</b><span>{% if said.kind not in ("message", "answer") %}{{ said.kind }} · {% endif %}
{% if said.edited %}edited · {% endif %}<time datetime="{{ said.createdAt }}">{{ said.createdAt|moment }}</time></span></div>
<p>{{ said.text }}</p>
{% if said.role == "assistant" %}<form method="post" action="/conversations/{{ view.id|urlencode }}/forks">
<input type="hidden" name="csrf" value="{{ visitor.csrf }}"><input type="hidden" name="key" value="{{ key }}">
<input type="hidden" name="message" value="{{ said.id }}">
<button class="plain" aria-label="Fork after this reply: {{ said.text|truncate(60) }}">Fork from here</button></form>{% endif %}
</article>
{% else %}{{ turn_details(item.turn) }}{% endif %}</li>
{% endfor %}
{% for said in waiting %}<li><article class="said person"><div class="by"><b>{{ said.author }}</b><span>waits</span></div>
<p>{{ said.text }}</p></article></li>{% endfor %}
</ol>
{% if dead %}<h2>Given up</h2><p>These messages were tried too often. Whoever runs Bosun has to look.</p>
<ul>{% for said in dead %}<li>{{ said.author }}: {{ said.text }}</li>{% endfor %}</ul>{% endif %}
{% if prompt %}<h2>Authorization</h2><p>Bosun waits for you: <a href="{{ prompt.url }}">{{ prompt.text }}</a></p>{% endif %}
{% if status != "idle" %}<form method="post" action="/conversations/{{ view.id|urlencode }}/stop">
<input type="hidden" name="csrf" value="{{ visitor.csrf }}"><button class="plain">Stop what runs</button></form>{% endif %}
<form class="say" method="post" action="/conversations/{{ view.id|urlencode }}/messages">
<input type="hidden" name="csrf" value="{{ visitor.csrf }}"><input type="hidden" name="key" value="{{ key }}">
<label for="message">Write to Bosun</label>
<textarea id="message" name="message" required maxlength="20000">{{ draft }}</textarea>
<div class="row"><button>Send</button></div>
</form>
{% endblock %}
"""

LINK: Final = """{% extends "base" %}
{% block title %}Slack{% endblock %}
{% block main %}
<h1>You on Slack</h1>
{% if linked %}<p>You are one person here and on Slack:</p>
<ul>{% for each in linked %}<li>{{ each.user_id }} of {{ each.team_id }}</li>{% endfor %}</ul>
{% else %}<p>Bosun does not know yet who you are on Slack. Once it does, you see here what you said there.</p>{% endif %}
{% if link_code %}<p role="status">Send this to Bosun on Slack as a direct message, within {{ minutes }} minutes:</p>
<pre aria-label="What to send">link {{ link_code }}</pre>
<p class="quiet">It works once. Show it to nobody: whoever sends it is you from then on.</p>{% endif %}
<form method="post" action="/link"><input type="hidden" name="csrf" value="{{ visitor.csrf }}">
<div class="row"><button>{{ "Make another code" if link_code else "Make a code" }}</button></div></form>
{% endblock %}
"""

PROBLEM: Final = """{% extends "base" %}
{% block title %}{{ heading }}{% endblock %}
{% block main %}<h1>{{ heading }}</h1><p><a href="/">Back to the conversations</a></p>{% endblock %}
"""


def environment(*, links: bool = False) -> Environment:
    """Return the templates, ready to be rendered; `links` says whether people can say who they are on Slack."""
    made = Environment(
        loader=DictLoader({"base": BASE, "list": LIST, "conversation": CONVERSATION, "link": LINK, "problem": PROBLEM}),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
    )
    made.globals.update(style=STYLE, links=links)
    return made
