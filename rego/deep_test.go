package rego
import ("testing";"strings";"time";"fmt")
func TestDeep(t *testing.T){
 rep:=strings.Repeat; N:=10
 for name,b:=range map[string]string{
 "arr": "report contains x if { x := "+rep("[",5000)+rep("]",5000)+" }",
 "arr25": "report contains x if { x := "+rep("[",25000)+rep("]",25000)+" }",
 "par": "report contains x if { x := "+rep("(",5000)+"1"+rep(")",5000)+" }",
 "call": "report contains x if { x := "+rep("abs(",5000)+"1"+rep(")",5000)+" }",
 "call10": "report contains x if { x := "+rep("abs(",10000)+"1"+rep(")",10000)+" }",
 "compr": "report contains x if { x := "+rep("[y | y := ",N)+"1"+rep("]",N)+" }",
 "sum": "report contains x if { x := 1"+rep(" + 1",10000)+" }",
 "stmts": "report contains x if { x := 1\n"+rep("x == 1\n",7000)+" }",
 "vars": func() string { s:="report contains x if { x := 1\n"; for i:=range 3000 { s+=fmt.Sprintf("v%d := x\n",i)}; return s+"}" }(),
 "rules": func() string { s:="report contains x if x := 1\n"; for i:=range 3000 { s+=fmt.Sprintf("v%d := 1\n",i)}; return s }(),
 "chain": func() string { s:="report contains v2499 if true\nv0 := 1\n"; for i:=1;i<2500;i++ { s+=fmt.Sprintf("v%d := v%d\n",i,i-1)}; return s }(),
 "and": "report contains x if { x := 1\n some a in [1]; some b in "+rep("[a,",500)+"1"+rep("]",500)+" }",
 } {
 t0:=time.Now(); m,errs:=newModule("x.rego",head+b,capabilities());t1:=time.Since(t0); var err error; if len(errs)==0 {_,err=compileChecked([]*module{m})}; fmt.Printf("%-8s %v %v %.100s %.200s\n",name,t1,time.Since(t0),fmt.Sprint(errs),fmt.Sprint(err)) }
 y:="# METADATA\n# a: &a [x,x,x,x,x,x,x,x,x,x]\n"; p:="a"; for _,c:=range "bcdefghij" { y+=fmt.Sprintf("# %c: &%c [%s]\n",c,c,strings.TrimSuffix(rep("*"+p+",",10),",")); p=string(c)}
 t0:=time.Now(); _,errs:=newModule("x.rego",y+"# title: *j\n"+strings.TrimPrefix(head,"# METADATA\n")+body,capabilities()); fmt.Printf("bomb %v %.200s\n",time.Since(t0),fmt.Sprint(errs))
 t0=time.Now(); _,errs=newModule("x.rego",strings.Replace(head,"category: advice","category: "+rep("[",9000)+rep("]",9000),1)+body,capabilities()); fmt.Printf("deepyaml %v %.200s\n",time.Since(t0),fmt.Sprint(errs))
}
