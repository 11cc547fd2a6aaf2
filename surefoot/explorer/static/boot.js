// Starts an exported page: unpacks the modules and recordings that it holds.
(async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { modules, recorded } = await new Response(unpacked).json();
  globalThis.surefootRecorded = recorded;
  const place = (source) => URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const imports = Object.fromEntries(Object.entries(modules).map(([name, source]) => [name, place(source)]));
  document.head.append(Object.assign(document.createElement("script"), { type: "importmap", textContent: JSON.stringify({ imports }) }));
  await import(imports.main);
})();
