// The oldest browsers in which everything works, as book/about.md promises: what esbuild makes
// scripts and sheets for.
export const PROMISED = ["es2021", "chrome100", "firefox100", "safari15.4"];
