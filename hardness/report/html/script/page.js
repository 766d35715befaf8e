// The page: its theme, its commands, and all parts set going.

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const toggle = button("", () => set(scheme() === "dark" ? "light" : "dark"));
  const scheme = () => document.documentElement.style.colorScheme || (dark.matches ? "dark" : "light");
  const label = () => {
    toggle.textContent = scheme() === "dark" ? "Light page" : "Dark page";
  };
  const set = (name) => {
    document.documentElement.style.colorScheme = name;
    label();
  };
  toggle.className = "theme";
  dark.addEventListener("change", label);
  label();
  document.body.prepend(toggle);
  document.body.prepend(document.querySelector(".skip"));
}

function copies() {
  for (const command of all(".command")) {
    const copy = button("Copy", async () => {
      const code = command.querySelector("code");
      const text = (code.querySelector(".whole") || code).textContent;
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code); // for the reader's own keys, where pages may not
        copy.textContent = "Selected";
      }
      setTimeout(() => (copy.textContent = "Copy"), 2000);
    });
    command.append(copy);
  }
}

// Each part stands alone: what one browser lacks takes no other part with it.
const parts = [
  theme,
  copies,
  ...data.charts.map((told) => () => new Chart(told)),
  ...all(".charts").map((section) => () => choose(section)),
  ...all('[data-grid="learners"]').map((root) => () => standing(root)),
  ...all('[data-grid="runs"]').map((root) => () => held(root, data.runs)),
];
for (const part of parts) {
  try {
    part();
  } catch (error) {
    console.error(error);
  }
}
performance.mark("interactive");
