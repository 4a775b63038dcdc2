"""Addresses of the project in the package's metadata, from the repository that builds the release.

The release workflow sets ISOGLOSS_REPOSITORY to the address of its own repository, so that a fork's packages point to
the fork.
"""

import os

from hatchling.metadata.plugin.interface import MetadataHookInterface

XTREME_R = "https://arxiv.org/abs/2104.07412"


def urls(repository: str) -> dict[str, str]:
    """Return labels and addresses for package indexes; without a repository, only those outside it."""
    if not repository:
        return {"XTREME-R": XTREME_R}
    repository = repository.rstrip("/")
    owner, name = repository.split("/")[-2:]
    site = f"https://{owner.lower()}.github.io/{name}"
    return {
        "Homepage": repository,
        "Documentation": site,
        "Leaderboard": f"{site}/board/",
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "XTREME-R": XTREME_R,
    }


class ProjectUrls(MetadataHookInterface):
    """Fills the dynamic field `urls`."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set the addresses."""
        metadata["urls"] = urls(os.environ.get("ISOGLOSS_REPOSITORY", ""))
