"""The prompt of the MCP server: an answer from the documentation, with citations."""

from __future__ import annotations

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

ANSWER_WITH_CITATIONS = Prompt(
    name="answer_with_citations",
    title="Answer from the documentation, with citations",
    description="Answers a question from the documentation alone, and cites each statement.",
    arguments=[
        PromptArgument(name="question", description="What to answer from the documentation", required=True)
    ],
)

_TEXT = """Answer this question from {book}:

{question}

1. Call `search` with the question. If it returns nothing, search once more with other words.
2. Where a passage breaks off or refers to what is around it, read on with `fetch`.
3. Answer from these passages alone, in your own words. After each statement, cite the `url` of its passage
   as a Markdown link with the title of the page and section.
4. If the passages do not answer the question, say so in one sentence, and name the nearest page. Do not fill
   the gap from memory."""


def write_prompt(question: str, book: str) -> GetPromptResult:
    """Return the prompt for a question."""
    text = _TEXT.format(book=book, question=question)
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=ANSWER_WITH_CITATIONS.description, messages=[message])
