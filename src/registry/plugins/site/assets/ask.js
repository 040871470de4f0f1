// A page of `registry browse`: the server answers what `explore.js` asks about the samples.
"use strict";
globalThis.registryServer = (stem) => {
  const get = async (path) => {
    const answer = await fetch(`../tables/${stem}${path}`);
    if (!answer.ok) throw new Error(await answer.text());
    const data = await answer.json();
    if (data.problem) throw new Error(data.problem);
    return data;
  };
  return {
    start: () => get(".json"),
    ask: ({ words, chosen, sort, descending, first }) => {
      const asked = new URLSearchParams({ sort, descending: Number(descending), first });
      for (const word of words) asked.append("word", word);
      for (const [facet, groups] of chosen) for (const group of groups) asked.append("chosen", `${facet}.${group}`);
      return get(`/rows.json?${asked}`);
    },
  };
};
