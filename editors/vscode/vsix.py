"""Packs the extension into a file that VS Code installs: `python editors/vscode/vsix.py`."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape, quoteattr

HERE: Final = Path(__file__).parent
FILES: Final = ("package.json", "extension.js")

TYPES: Final = """\
<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""

MANIFEST: Final = """\
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <DisplayName>{title}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>{categories}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
    </Properties>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def pack(folder: Path = Path()) -> Path:
    """Write the file into a folder; where it is."""
    about = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    manifest = MANIFEST.format(
        name=quoteattr(about["name"]),
        version=quoteattr(about["version"]),
        publisher=quoteattr(about["publisher"]),
        engine=quoteattr(about["engines"]["vscode"]),
        title=escape(about["displayName"]),
        description=escape(about["description"]),
        categories=escape(",".join(about["categories"])),
    )
    made = folder / f"{about['name']}-{about['version']}.vsix"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("extension.vsixmanifest", manifest)
        for name in FILES:
            archive.write(HERE / name, f"extension/{name}")
    return made


if __name__ == "__main__":
    sys.stdout.write(f"code --install-extension {pack()}\n")
