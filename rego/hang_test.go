package rego
import ("testing";"time";"math/rand/v2";"fmt";"strings")
func TestHang(t *testing.T){
 seeds:=[]string{head+body, head + "report contains " + strings.Repeat("[", 1000), "package x\n# METADATA\n# title: {\n", head+strings.Repeat("[",40)+strings.Repeat("]",40)}
 start:=time.Now(); n:=0; worst:=time.Duration(0)
 for time.Since(start)<40*time.Second {
  s:=[]byte(seeds[rand.IntN(len(seeds))])
  for range rand.IntN(6) { switch rand.IntN(4){ case 0: s[rand.IntN(len(s))]=byte(rand.IntN(256)); case 1: i:=rand.IntN(len(s)); j:=min(len(s),i+rand.IntN(30)); s=append(s[:i:i],s[j:]...); case 2: i,j:=rand.IntN(len(s)),rand.IntN(len(s)); if i<j { s=append(append(append([]byte{},s[:j]...),s[i:j]...),s[j:]...) }
   case 3: tok:=[]string{"[","{","(","not ","with ","`","\"","$\"","some ","every ","else ","if ","contains "," := ","data.","input.","rego.metadata.chain()","\n# METADATA\n# title: x\n","#"}[rand.IntN(19)]; i:=rand.IntN(len(s)); s=append(append(append([]byte{},s[:i]...),tok...),s[i:]...) }
   if len(s)==0 {s=[]byte("x")} }
  done:=make(chan string,1)
  t0:=time.Now()
  go func(){ m,errs:=newModule("x.rego",string(s),capabilities()); r:="parse"; if len(errs)==0 { _,err:=compileChecked([]*module{m}); r=fmt.Sprint("compiled ",err)}; for _,e:=range errs { if strings.Contains(e.Error(),"fails on"){ r=e.Error()} }; done<-r}()
  select { case r:=<-done: if strings.Contains(r,"fails on"){fmt.Println(r); fmt.Printf("%q\n",s)} ; case <-time.After(3*time.Second): fmt.Printf("HANG %q\n",s); t.FailNow() }
  worst=max(worst,time.Since(t0)); n++
 }
 fmt.Println(n,worst)
}
