// What the reader chose the last time, before anything is painted; without a choice, what the system says.
try {
  const theme = localStorage.getItem("waybridge-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Pages that are files may have no storage.
}
