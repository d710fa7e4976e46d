"""A small book to index, with a page that means harm."""

from __future__ import annotations

SITE = "https://robots.example/docs"

PAGES = {
    "intro.md": "# Welcome to robots\n\nThis handbook is about robots that walk, see and listen.\n",
    "ros2/nodes.md": """# Nodes and executors

A node is a process that talks to other nodes.

## Topics

Nodes publish messages on topics, and other nodes subscribe to those topics.

## Services

A service answers a request, once for each call.

## Lifecycle

A managed node is configured, activated and shut down by whoever manages it.

## Executors

An executor calls the callbacks of its nodes, one after another or in several threads.
""",
    "ros2/topics.md": """# Topics and quality of service

Publishers offer a quality of service, and subscribers ask for one.

## Policies

| Policy | Values | Meaning |
| --- | --- | ---: |
| Reliability | `RELIABLE`, `BEST_EFFORT` | Resend lost samples, or never |
| Depth | integer | The length of the queue |

## Writing a publisher

```python
class Talker(Node):
    def __init__(self):
        self.publisher = self.create_publisher(String, 'a_rather_long_topic_name', qos_profile=10)
```

Call `publish` on it for each message.

## Late joiners

With a transient local publisher, late subscribers get the last messages that it did publish.

## Reliable delivery

A reliable publisher will publish a lost message again.

## Best effort

A best effort publisher will publish each message once.

## Deadlines

A publisher promises to publish a message before each deadline.
""",
    "body/joints.md": """# Joints

## Limits

A revolute joint has limits for its angle:

- a lower limit, in radians
  - measured from the zero position
- an upper limit
- an effort limit

## Friction

Friction slows a joint down.
""",
    "body/links.md": "# Links\n\nA link is a rigid piece of the robot, with mass and inertia.\n",
    "body/hostile.md": """# Hostile <img src=x onerror="window.harmed = 1">

## The script

An attacker wrote `<script>window.harmed = 2</script>` into the wiki.

```html
<script>window.harmed = 3</script>
<img src="x" onerror="window.harmed = 4">
```

The payload \\<script>window.harmed = 5\\</script> and \\<img src=x onerror=window.harmed=6> and
\\[click here](javascript:window.harmed=7) stand in the prose.
""",
}
