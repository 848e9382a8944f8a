"""How a corpus is read."""

from dataclasses import dataclass

from corpora import SettingError


@dataclass(frozen=True)
class Reading:
    """How a corpus is read: the keyword arguments of `corpora.readers.open_corpus`, where they are explained."""

    source: str | None = None
    target: str | None = None
    columns: tuple[str, str] | None = None
    untranslated: bool = False

    def swaps(self, own: tuple[str | None, str | None]) -> bool:
        """Whether a chosen language is that of the other side.  own: of the files."""
        chosen = zip((self.source, self.target), own[::-1], strict=True)
        return own[0] != own[1] and any(one is not None and one == other for one, other in chosen)

    def refuse(self, what: str, hint: str) -> None:
        """Raise SettingError for the first that is given."""
        for name in (name for name, value in vars(self).items() if value):
            raise SettingError(f"`{name}` {what} ({hint})")

    def refuse_choice(self) -> None:
        """Raise SettingError for what chooses among the texts of one file, where there are two files."""
        alone = Reading(columns=self.columns, untranslated=self.untranslated)
        alone.refuse("is of one file, which has source and target", "leave it out, or give one file")


AS_IT_IS = Reading()
