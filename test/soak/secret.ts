/** What each request has to bring. */
export const ROUTER_SECRET = 'secret-of-the-soak-router';
