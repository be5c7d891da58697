// Problems on the page: draws numbers from a seed, checks answers, names wrong turns.
export function mountProblems() {}
