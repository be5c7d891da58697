// Cards on the page, and the pages Review and Progress.
export function mountReview() {}
