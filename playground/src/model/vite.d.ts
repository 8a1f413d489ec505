/** Imports that Vite resolves: the address of a worker, and styles that are loaded with a part of the page. */

declare module "*?worker&url" {
  const address: string;
  export default address;
}

declare module "*.css" {}
