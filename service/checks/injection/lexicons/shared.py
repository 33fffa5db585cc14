"""Words that mean the same in a text of any language, and short lists that every language has."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "READER": "ai llm llms gpt gpt-4* gpt-5* chatgpt claude gemini llama mistral qwen deepseek copilot",
    "ANSWER": "json",
    "EXTREME": "10 100 0 1 5 9 95 99 98 97 90 high upheld",
    "ATTACK": "owasp jailbreak* phishing payload* prompt-injection",
    "CODE": (
        "def assert import const pytest lambda elif dedent isinstance println printf async await insert"
        " select kwargs eslint raise config yaml toml fixture test_* parametrize cdn localhost print unittest"
        " assertion regex sample+= json.dumps self. __init__ argparse select*from update+review role:system"
        " max_tokens temperature messages.append system_prompt system_template prompt_template template+="
        " vorlage+= plantilla*+= llm_* messages+="
    ),
}
STOP: list[str] = []
"""Frequent words: text in which they stand in another alphabet or order is read so."""
