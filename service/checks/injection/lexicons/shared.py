"""Words that mean the same in a text of any language, and short lists that every language has."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "READER": "ai llm llms gpt gpt-4* gpt-5* chatgpt claude gemini llama mistral qwen deepseek copilot",
    "ANSWER": "json",
    "EXTREME": "10 100 0 1 5 9 95 99 98 97 90 high upheld",
    "ATTACK": "owasp jailbreak* phishing payload* prompt-injection",
    "CONDITION": "if unless where when whether wenn falls sofern si lorsque quand sauf cuando salvo se qualora quando caso exceto als indien"
    " tenzij jeśli jeżeli gdy chyba если когда 如果 若 如 もし 場合",
    "RANGE": "between scale range or either five-point from entre echelle o ou ou oder zwischen skala escala scala schaal tussen of"
    " skali lub między albo шкале или между от przedziale 之间 或 量表 から または",
}
STOP: list[str] = []
