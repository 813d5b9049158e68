// Buttons that copy a text to the clipboard.

function copyText(text) {
	if (navigator.clipboard) {
		return navigator.clipboard.writeText(text).catch(() => copyBySelection(text));
	}
	return copyBySelection(text);
}

function copyBySelection(text) {
	const area = document.createElement("textarea");
	area.value = text;
	document.body.append(area);
	area.select();
	const done = document.execCommand("copy");
	area.remove();
	return done ? Promise.resolve() : Promise.reject(new Error("not allowed"));
}

export function prepareCopying() {
	document.querySelector("#next a")?.addEventListener("click", () => (document.getElementById("snippets").open = true));
	for (const box of document.querySelectorAll(".copy")) {
		const said = box.querySelector(".copied");
		box.hidden = false;
		box.addEventListener("click", (event) => {
			const button = event.target.closest("button");
			const source = button && document.getElementById(button.dataset.copy);
			if (!source) {
				return;
			}
			copyText(source.textContent).then(
				() => (said.textContent = `copied for ${button.textContent}`),
				() => {
					source.closest("details").open = true;
					getSelection().selectAllChildren(source);
					said.textContent = "selected below: copy it by hand";
				},
			);
		});
	}
}
