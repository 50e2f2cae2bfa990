declare module 'jq-web' {
  const ready: Promise<{
    readonly raw: (json: string, filter: string, flags?: readonly string[]) => string;
  }>;
  export default ready;
}
