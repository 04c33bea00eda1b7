"""Who acts on an image of imSitu, by the nouns that annotators gave the agent.

Three annotators say which noun of WordNet (3.0) fills each role of the verb. The rule as it is stated here,
which is ours where Zhao et al. (EMNLP 2017) and Wang et al. (ICCV 2019) leave a choice:

- an annotator sees a man or a woman if the noun of the role `agent` is one of those below;
- an image is `man` if any of its annotators sees a man and none a woman, `woman` the other way round;
- other images have no gender (-1): both were seen, or an agent of another kind ("people", n07942152; "adult",
  n09605289; "child"; an animal), or none, or the verb has no agent.

Nouns are taken as they are, not with all that WordNet has below them: imsitu_space.json does not tell what is
below what, and "wide" names those that say no more than gender and age.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.groups import UNKNOWN

# for each list the synsets for a man, and those for a woman, with a word that their entry must have
NOUNS: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "narrow": ({"n10287213": "man"}, {"n10787470": "woman"}),
    "wide": (
        {"n10287213": "man", "n10285313": "boy", "n09624168": "male"},
        {"n10787470": "woman", "n10129825": "girl", "n09619168": "female"},
    ),
}


def agent_gender(agents: Sequence[str], nouns: str) -> int:
    """0 for a man, 1 for a woman, -1 for neither or both, of the nouns that annotators gave the agent.

    >>> agent_gender(["n10287213", "", "n07942152"], "narrow"), agent_gender(["n10129825"], "wide")
    (0, 1)
    >>> agent_gender(["n10287213", "n10787470"], "narrow"), agent_gender(["n10129825"], "narrow")
    (-1, -1)
    """
    man, woman = (any(agent in listed for agent in agents) for listed in NOUNS[nouns])
    return UNKNOWN if man == woman else int(woman)
